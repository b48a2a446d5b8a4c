"""MediaWiki with articles that have authors, times and redirects: imported as a dump of another wiki.

It is on SQLite and PHP's built-in server.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import urllib.parse
import urllib.request
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from crawler.base.errors import UnavailableError
from testbed.applications.application import Application
from testbed.applications.articles import Article, Block, Bullets, Code, Heading, Notice, Paragraph, Table
from testbed.applications.page import TruePage
from testbed.servers.process import run_to_end

if TYPE_CHECKING:
    from collections.abc import Iterator

INSTALL_SECONDS = 60.0
IMPORT_SECONDS = 300.0  # the longest import; 15 ms a page on an idle machine
LIST_SECONDS = 30.0  # for one list of pages
# SQLite needn't wait for the disk, because no test goes on after a crash; the waiting took two thirds of an import.
NO_SYNC = """
$wgDBservers = [ [ 'type' => 'sqlite', 'dbname' => $wgDBname, 'dbDirectory' => $wgSQLiteDataDir, 'load' => 1,
    'variables' => [ 'synchronous' => 'OFF' ] ] ];
$wgObjectCaches[CACHE_DB]['server']['variables']['synchronous'] = 'OFF';
$wgLocalisationCacheConf['storeServer']['variables']['synchronous'] = 'OFF';
$wgJobTypeConf['default']['server']['variables']['synchronous'] = 'OFF';
"""
DEBIAN_PACKAGES = "mediawiki php-cli php-sqlite3 php-xml php-mbstring php-intl"
FRAME = '<div class="frame">{{{1}}}</div>'  # the template that makes a notice


class MediaWiki(Application):
    """A wiki of articles."""

    NAME = "mediawiki"
    PAGE = "/api.php?action=query&meta=siteinfo&format=json"

    def __init__(self, folder: Path, count: int) -> None:
        super().__init__(folder, count)
        self._program = _installed()
        self._filled = self.folder / "LocalSettings.php"
        self._runs_php(self._program, {"MW_CONFIG_FILE": str(self._filled)})

    def truth(self) -> list[TruePage]:
        """Returns its pages: titles, times and redirects as the wiki's own API tells them."""
        texts = {article.title: article.text for article in self.articles}
        found: list[TruePage] = []
        query = "/api.php?action=query&format=json&prop=revisions|info&rvprop=timestamp&inprop=url&generator=allpages"
        more = "&gapfilterredir=nonredirects&gaplimit=50"
        while more:
            with urllib.request.urlopen(self.url + query + more, timeout=LIST_SECONDS) as response:  # noqa: S310 -- the server is our own
                answer = json.load(response)
            found += [
                TruePage(
                    page["fullurl"],
                    page["title"],
                    texts[page["title"]],
                    datetime.fromisoformat(page["revisions"][0]["timestamp"]),
                    is_to_minute=True,
                )
                for page in answer["query"]["pages"].values()
                if page["title"] in texts
            ]
            go_on = answer.get("continue", {}).get("gapcontinue", "")
            more = f"&gapfilterredir=nonredirects&gaplimit=50&gapcontinue={urllib.parse.quote(go_on)}" if go_on else ""
        return found

    def _fill(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        options = ["--dbtype", "sqlite", "--dbpath", self.folder / "data", "--confpath", self.folder]
        options += ["--server", self.url, "--scriptpath", "", "--pass", "a-long-test-password"]
        self._maintain("install.php", *options, "Test wiki", "Admin", seconds=INSTALL_SECONDS)
        with self._filled.open("a") as file:
            file.write(NO_SYNC)
        self._import()

    def _import(self) -> None:
        dump = self.folder / "dump.xml"
        dump.write_text("".join(_dump(self.articles)), encoding="utf-8")
        self._maintain("importDump.php", "--username-prefix=", str(dump), seconds=IMPORT_SECONDS)
        for script in ("rebuildrecentchanges.php", "rebuildtextindex.php", "runJobs.php"):
            self._maintain(script, seconds=IMPORT_SECONDS)

    def _maintain(self, script: str, *arguments: object, seconds: float) -> None:
        command = ["php", str(self._program / "maintenance" / script), *map(str, arguments)]
        environment = {"MW_CONFIG_FILE": str(self._filled)} if script != "install.php" else {}
        run_to_end(script, command, self.folder, seconds, environment)


def _dump(of: list[Article]) -> Iterator[str]:
    """Yields the parts of a dump in MediaWiki's export format."""
    yield '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en">\n'
    yield _page("Template:Frame", "2024-01-01T00:00:00Z", "Admin", FRAME, namespace=10)
    for article in of:
        time = f"{article.published:%Y-%m-%dT%H:%M:%SZ}"
        yield _page(article.title, time, article.author, "\n\n".join(map(_markup, article.blocks)))
        if article.former_title:
            yield _page(article.former_title, time, article.author, f"#REDIRECT [[{article.title}]]")
    yield "</mediawiki>\n"


def _page(title: str, time: str, author: str, text: str, namespace: int = 0) -> str:
    return (
        f"<page><title>{escape(title)}</title><ns>{namespace}</ns><revision><timestamp>{time}</timestamp>"
        f"<contributor><username>{escape(author)}</username></contributor><model>wikitext</model>"
        f'<format>text/x-wiki</format><text xml:space="preserve">{escape(text)}</text></revision></page>\n'
    )


def _markup(block: Block) -> str:
    """Returns a block as wikitext."""
    match block:
        case Heading():
            return f"== {block.text} =="
        case Paragraph():
            return escape(block.text)
        case Bullets():
            return "\n".join(f"* {escape(item)}" for item in block.items)
        case Table():
            head, *rows = block.rows
            lines = ['{| class="wikitable"', "! " + " !! ".join(head)]
            for row in rows:
                lines += ["|-", "| " + " || ".join(row)]
            return "\n".join((*lines, "|}"))
        case Code():
            return f"<pre>{escape(block.text)}</pre>"
        case Notice():
            return f"{{{{Frame|1={escape(block.text)}}}}}"


def _installed() -> Path:
    """Returns the folder of Debian's MediaWiki.

    Raises:
        UnavailableError: There is none.
    """
    if shutil.which("php") and shutil.which("dpkg-query"):
        command = ["dpkg-query", "-L", "mediawiki"]
        listing = subprocess.run(command, capture_output=True, text=True, check=False).stdout  # noqa: S603 -- constants
        for line in listing.splitlines():
            if line.endswith("/maintenance/importDump.php"):
                return Path(line).parents[1]
    raise UnavailableError(f"MediaWiki: Debian's packages aren't all installed: {DEBIAN_PACKAGES}")
