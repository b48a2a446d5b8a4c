"""MediaWiki with articles that have authors, times and redirects: imported as a dump of another wiki."""

from __future__ import annotations

import json
import urllib.parse
import urllib.request
from datetime import datetime
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from testbed.applications.articles import Article, Block, Bullets, Code, Heading, Notice, Paragraph, Table, articles
from testbed.applications.page import TruePage
from testbed.servers.mediawiki import IMPORT_SECONDS, LIST_SECONDS, MediaWiki

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FRAME = '<div class="frame">{{{1}}}</div>'  # the template that makes a notice


class WikiWithHistory(MediaWiki):
    """A wiki of articles.

    Args:
        folder: Data, configuration and log go to a folder `mediawiki` in it.
        count: Number of articles.

    Raises:
        UnavailableError: MediaWiki or PHP isn't installed.
    """

    def __init__(self, folder: Path, count: int) -> None:
        self.articles = articles(count)
        super().__init__(folder, {})

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

    def _import(self) -> None:
        dump = self.folder / "dump.xml"
        dump.write_text("".join(_dump(self.articles)), encoding="utf-8")
        self._maintain("importDump.php", "--username-prefix=", str(dump), seconds=IMPORT_SECONDS)
        for script in ("rebuildrecentchanges.php", "rebuildtextindex.php", "runJobs.php"):
            self._maintain(script, seconds=IMPORT_SECONDS)


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
