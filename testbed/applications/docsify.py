"""Documentation by Docsify, from its npm package: one document whose scripts make every page and the search."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from crawler.base.errors import UnavailableError
from testbed.applications.application import WrittenPages
from testbed.applications.articles import Article, Block, Bullets, Code, Heading, Notice, Paragraph, Table
from testbed.servers.process import ROOT

CACHE = ROOT / ".cache" / "applications" / "docsify"
LOCK = Path(__file__).with_name("docsify-lock.json")
PAGES_MAX = 100  # each page loads all others, for its search's index: 300 would take ten minutes to crawl
INSTALL_SECONDS = 300.0  # of eight packages; some 5 s where the registry is near
PARTS = ("docsify.min.js", "plugins/search.min.js", "themes/core.min.css")
START_PAGE = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Town reports</title><link rel="stylesheet" href="core.min.css"></head>
<body>
<div id="app">Please wait</div>
<script>window.$docsify = {name: "Town reports", loadSidebar: true, search: {paths: "auto", depth: 1}};</script>
<script src="docsify.min.js"></script>
<script src="search.min.js"></script>
</body>
</html>
"""


class Docsify(WrittenPages):
    """Documentation with a page for each article, each a route of the same document."""

    NAME = "docsify"
    PLACE = "/#/reports/{}"

    def __init__(self, folder: Path, count: int) -> None:
        super().__init__(folder, min(count, PAGES_MAX))
        self._parts = installed()

    def _fill(self) -> None:
        (self._filled / "reports").mkdir(parents=True)
        for part in PARTS:
            shutil.copy(self._parts / part, self._filled)
        (self._filled / "index.html").write_text(START_PAGE)
        (self._filled / "README.md").write_text("# Town reports\n\nAll that the town has said since January.\n")
        entries = (f"- [{article.title}](reports/{article.number}.md)\n" for article in self.articles)
        (self._filled / "_sidebar.md").write_text("".join(entries), encoding="utf-8")
        for article in self.articles:
            (self._filled / "reports" / f"{article.number}.md").write_text(_source(article), encoding="utf-8")


def installed() -> Path:
    """Returns the folder of Docsify's scripts and styles; the first time, installs the packages that are pinned.

    Raises:
        UnavailableError: npm isn't here, or they couldn't be installed.
    """
    stamp = CACHE / "node_modules" / LOCK.name
    if not stamp.exists() or stamp.read_bytes() != LOCK.read_bytes():
        if (npm := shutil.which("npm")) is None:
            raise UnavailableError("docsify: it comes by npm, and there is none on PATH; Debian has it as `npm`")
        CACHE.mkdir(parents=True, exist_ok=True)
        shutil.copy(LOCK.with_name("docsify.json"), CACHE / "package.json")
        shutil.copy(LOCK, CACHE / "package-lock.json")
        # No package gets to run anything.
        command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(CACHE)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=INSTALL_SECONDS)  # noqa: S603 -- constants
        if done.returncode:
            raise UnavailableError(f"docsify: {' '.join(command)}: {done.stderr.strip()[-300:]}")
        shutil.copy(LOCK, stamp)
    return CACHE / "node_modules" / "docsify" / "dist"


def _source(article: Article) -> str:
    """Returns a page in Markdown, with a line of HTML that says who wrote it, and when."""
    byline = f'<p class="byline">By {article.author} on {article.published:%Y-%m-%d %H:%M:%S} UTC</p>'
    return "\n\n".join([f"# {article.title}", byline, *map(_markup, article.blocks)]) + "\n"


def _markup(block: Block) -> str:
    match block:
        case Heading():
            return f"## {block.text}"
        case Paragraph():
            return block.text
        case Bullets():
            return "\n".join(f"- {item}" for item in block.items)
        case Table():
            head, *rows = (f"| {' | '.join(row)} |" for row in block.rows)
            return "\n".join([head, "|---" * len(block.rows[0]) + "|", *rows])
        case Code():
            return f"```\n{block.text}\n```"
        case Notice():
            return f"> {block.text}"
