"""Documentation made by Sphinx, from its wheel: plain pages, and a search that is all script."""

from __future__ import annotations

from typing import TYPE_CHECKING

from testbed.applications.application import WrittenPages
from testbed.applications.articles import Article, Block, Bullets, Code, Heading, Notice, Paragraph, Table
from testbed.applications.wheels import programs_of
from testbed.servers.process import run_to_end

if TYPE_CHECKING:
    from pathlib import Path

BUILD_SECONDS = 120.0  # 300 pages take 5 s
START_PAGE = """Town reports
============

.. toctree::
   :maxdepth: 1
   :glob:

   reports/*
"""


class Sphinx(WrittenPages):
    """Documentation with a page for each article."""

    NAME = "sphinx"
    PLACE = "/reports/{}.html"

    def __init__(self, folder: Path, count: int) -> None:
        super().__init__(folder, count)
        self._programs = programs_of("sphinx")

    def _fill(self) -> None:
        source = self.folder / "source"
        (source / "reports").mkdir(parents=True)
        (source / "conf.py").write_text('project = "Town reports"\n')
        (source / "index.rst").write_text(START_PAGE)
        for article in self.articles:
            (source / "reports" / f"{article.number}.rst").write_text(_source(article), encoding="utf-8")
        build = [str(self._programs / "sphinx-build"), "--quiet", "--builder", "html", str(source), str(self._filled)]
        run_to_end("sphinx-build", build, self.folder, BUILD_SECONDS)


def _source(article: Article) -> str:
    """Returns a page in reStructuredText, with a list of fields that says who wrote it, and when."""
    byline = f":Author: {article.author}\n:Date: {article.published:%Y-%m-%d %H:%M:%S} UTC"
    return "\n\n".join([_heading(article.title, "="), byline, *map(_markup, article.blocks)]) + "\n"


def _markup(block: Block) -> str:
    match block:
        case Heading():
            return _heading(block.text, "-")
        case Paragraph():
            return block.text
        case Bullets():
            return "\n".join(f"* {item}" for item in block.items)
        case Table():
            rows = (f"   * - {first}\n" + "\n".join(f"     - {cell}" for cell in cells) for first, *cells in block.rows)
            return ".. list-table::\n   :header-rows: 1\n\n" + "\n".join(rows)
        case Code():
            return "::\n\n" + _indented(block.text)
        case Notice():
            return ".. note::\n\n" + _indented(block.text)


def _heading(text: str, mark: str) -> str:
    return f"{text}\n{mark * 2 * len(text)}"  # a Chinese sign is two columns wide


def _indented(text: str) -> str:
    return "\n".join(f"   {line}" if line else "" for line in text.split("\n"))
