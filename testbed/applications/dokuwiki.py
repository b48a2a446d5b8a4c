"""DokuWiki with articles that have authors and times: its pages are files, and so is its list of changes."""

from __future__ import annotations

import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

from crawler.base.errors import UnavailableError
from testbed.applications.application import Application
from testbed.applications.articles import (
    Article,
    Block,
    Bullets,
    Code,
    Heading,
    Notice,
    Paragraph,
    Table,
)
from testbed.applications.page import TruePage
from testbed.servers.process import run_to_end

PROGRAM, CONFIGURATION = Path("/usr/share/dokuwiki"), Path("/etc/dokuwiki")  # where Debian has them
DEBIAN_PACKAGES = "dokuwiki php-cli php-xml php-gd"
INDEX_SECONDS = 300.0  # for all pages; 10 ms each
SETTINGS = """<?php
$conf['title'] = 'Town wiki';
$conf['savedir'] = './data';
$conf['useacl'] = 0;
$conf['dformat'] = '%Y-%m-%d %H:%M:%S';
$conf['showuseras'] = 'loginname';
$conf['sepchar'] = '_';
"""


class DokuWiki(Application):
    """A wiki of articles, on PHP's built-in server."""

    NAME = "dokuwiki"
    PAGE = "/doku.php?id=start"

    def __init__(self, folder: Path, count: int) -> None:
        if not (PROGRAM / "doku.php").exists() or not shutil.which("php"):
            raise UnavailableError(f"DokuWiki: Debian's packages aren't all installed: {DEBIAN_PACKAGES}")
        super().__init__(folder, count)
        self._filled = self._program = self.folder / "program"
        self._runs_php(self._program)

    def truth(self) -> list[TruePage]:
        """Returns its pages: times and authors as its own list of changes tells them."""
        return [self._page(article) for article in self.articles]

    def _page(self, article: Article) -> TruePage:
        last = (self._data / "meta" / f"{_name(article)}.changes").read_text(encoding="utf-8").splitlines()[-1]
        seconds, _address, _kind, _page, author = last.split("\t")[:5]
        return TruePage(
            f"{self.url}/doku.php?id={_name(article)}",
            article.title,
            article.text,
            datetime.fromtimestamp(int(seconds), UTC),
            author=author,
        )

    @property
    def _data(self) -> Path:
        return self._program / "data"

    def _fill(self) -> None:
        shutil.copytree(PROGRAM, self._program)
        (self._program / "inc" / "preload.php").unlink()  # Debian's, which names Debian's folders
        shutil.copytree(CONFIGURATION, self._program / "conf", ignore_dangling_symlinks=True)
        (self._program / "conf" / "local.php").write_text(SETTINGS)
        for name in (
            "attic",
            "cache",
            "index",
            "locks",
            "log",
            "media",
            "media_attic",
            "media_meta",
            "meta",
            "pages",
            "tmp",
        ):
            (self._data / name).mkdir(parents=True)
        for article in self.articles:
            self._write(article)
        command = ["php", str(self._program / "bin" / "indexer.php")]
        run_to_end("indexer", command, self.folder, INDEX_SECONDS)

    def _write(self, article: Article) -> None:
        text = f"====== {article.title} ======\n\n" + "\n\n".join(map(_markup, article.blocks)) + "\n"
        page = self._data / "pages" / f"{_name(article)}.txt"
        page.write_text(text, encoding="utf-8")
        seconds = int(article.published.timestamp())
        os.utime(page, (seconds, seconds))
        change = "\t".join(
            (str(seconds), "127.0.0.1", "C", _name(article), article.author, "created", "", str(len(text)))
        )
        (self._data / "meta" / f"{_name(article)}.changes").write_text(change + "\n", encoding="utf-8")


def _name(article: Article) -> str:
    """Returns the id of an article's page."""
    return f"report_{article.number}"


def _markup(block: Block) -> str:
    """Returns a block in DokuWiki's syntax; `%%` keeps what would be syntax within a line."""
    match block:
        case Heading():
            return f"===== {block.text} ====="
        case Paragraph():
            return f"{block.text}"
        case Bullets():
            return "\n".join(f"  * {item}" for item in block.items)
        case Table():
            head, *rows = block.rows
            lines = ["^ " + " ^ ".join(head) + " ^"]
            lines += ["| " + " | ".join(row) + " |" for row in rows]
            return "\n".join(lines)
        case Code():
            return f"<code python>\n{block.text}\n</code>"
        case Notice():
            return f"> {block.text}"
