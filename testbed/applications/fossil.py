"""The forum of Fossil, from Debian's package: a thread for each article, with replies. Its database is the truth."""

from __future__ import annotations

import contextlib
import hashlib
import re
import sqlite3
import zlib
from datetime import UTC, datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any

from testbed.applications.application import Application
from testbed.applications.articles import Article, Block, Bullets, Code, Heading, Notice, Paragraph, Table
from testbed.applications.debian import unpacked
from testbed.applications.page import Remark, TruePage
from testbed.servers.process import run_to_end

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BUILD_SECONDS = 120.0  # 300 threads take 2 s
# Visitors may read the forum, and links are plain ones for all of them; the full-text index finds whole words.
SETTINGS = """
REPLACE INTO config (name, value, mtime) VALUES ('search-forum', 1, now()), ('auto-hyperlink', 0, now()),
    ('project-name', 'Town forum', now()), ('timeline-utc', 1, now());
UPDATE user SET cap = 'hjoz2' WHERE login = 'nobody';
"""


class Fossil(Application):
    """A forum with a thread for each article."""

    NAME = "fossil"
    PAGE = "/forum"

    def __init__(self, folder: Path, count: int) -> None:
        super().__init__(folder, count)
        program = unpacked("fossil", "libfuse2", "libtcl8.6")
        self._program = program / "usr" / "bin" / "fossil"
        libraries = f"{program}/lib/x86_64-linux-gnu:{program}/usr/lib/x86_64-linux-gnu"
        self._variables = {"LD_LIBRARY_PATH": libraries, "HOME": str(self.folder), "USER": "admin"}
        self._filled = self._repository = self.folder / "town.fossil"
        command = [str(self._program), "server", "--localhost", "--port", str(self.port), str(self._repository)]
        self._runs(command, self._variables)

    def truth(self) -> list[TruePage]:
        """Returns its threads: titles, times, authors and replies as its database has them."""
        texts = {article.title: article.text for article in self.articles}
        pages = []
        with contextlib.closing(sqlite3.connect(self._repository)) as database:
            rows = database.execute(
                "SELECT froot, uuid, content, fpid, firt FROM forumpost JOIN blob ON fpid = rid"
                " ORDER BY froot, firt IS NOT NULL, fmtime"
            )
            for _root, posts in groupby(rows, key=lambda row: row[0]):
                (_, name, stored, *_), *replies = posts
                first = _read(stored)
                pages.append(
                    TruePage(
                        f"{self.url}/forumpost/{name[:10]}",
                        first["H"],
                        texts[first["H"]],
                        _instant(first["D"]),
                        author=first["U"],
                        comments=tuple(_remarks(replies)),
                        # A thread is shown as a whole for each of its posts, and its list leads to the last one.
                        other_urls=tuple(f"{self.url}/forumpost/{reply[1][:10]}" for reply in replies),
                    )
                )
        return pages

    def _fill(self) -> None:
        artifacts = self.folder / "artifacts"
        artifacts.mkdir(parents=True)
        for article in self.articles:
            for artifact in _thread(article):
                (artifacts / hashlib.sha3_256(artifact).hexdigest()).write_bytes(artifact)
        repository = str(self._repository)
        self._run("reconstruct", repository, str(artifacts))
        self._run("sql", "-R", repository, SETTINGS)
        self._run("fts-config", "index", "on", "-R", repository)

    def _run(self, *arguments: str) -> None:
        run_to_end(arguments[0], [str(self._program), *arguments], self.folder, BUILD_SECONDS, self._variables)


def _thread(article: Article) -> Iterator[bytes]:
    """Yields a thread's posts in Fossil's file format; each names the post that it answers, and the first one."""
    text = "\n\n".join(map(_markup, article.blocks))
    first = _post(article.published, article.author, text, title=article.title)
    names = [hashlib.sha3_256(first).hexdigest()]
    yield first
    for comment in article.comments:
        answered = names[0] if comment.parent is None else names[comment.parent + 1]
        reply = _post(comment.published, comment.author, _escaped(comment.text), root=names[0], answered=answered)
        names.append(hashlib.sha3_256(reply).hexdigest())
        yield reply


def _post(time: datetime, author: str, text: str, *, title: str = "", root: str = "", answered: str = "") -> bytes:
    cards = [f"D {time:%Y-%m-%dT%H:%M:%S}.000"]
    cards += [f"G {root}"] * bool(root) + [f"H {_card(title)}"] * bool(title) + [f"I {answered}"] * bool(answered)
    cards += ["N text/x-markdown", f"U {_card(author)}", f"W {len(text.encode())}\n{text}"]
    body = "\n".join(cards).encode() + b"\n"
    return body + b"Z " + hashlib.md5(body, usedforsecurity=False).hexdigest().encode() + b"\n"


def _card(text: str) -> str:
    """Returns a text as a card's argument: without spaces and line ends."""
    return text.replace("\\", "\\\\").replace(" ", "\\s").replace("\n", "\\n")


def _read(stored: bytes) -> dict[str, str]:
    """Returns the cards of a stored post; its text, as it was written, is `W`."""
    head, _, rest = zlib.decompress(stored[4:]).decode().partition("\nW ")  # before it stands the size
    size, _, text = rest.partition("\n")
    cards = {
        line[0]: line[2:].replace("\\s", " ").replace("\\n", "\n").replace("\\\\", "\\") for line in head.split("\n")
    }
    return cards | {"W": _unescaped(text.encode()[: int(size)].decode())}


def _remarks(replies: list[Any]) -> Iterator[Remark]:
    """Yields replies as the rows of the database have them."""
    places = {number: place for place, (_, _, _, number, _) in enumerate(replies)}
    for _, _, stored, _, answered in replies:
        cards = _read(stored)
        yield Remark(cards["U"], _instant(cards["D"]), cards["W"], places.get(answered))


def _instant(time: str) -> datetime:
    return datetime.fromisoformat(time).replace(tzinfo=UTC)


def _markup(block: Block) -> str:
    """Returns a block in Fossil's Markdown."""
    match block:
        case Heading():
            return f"## {_escaped(block.text)}"
        case Paragraph():
            return _escaped(block.text)
        case Bullets():
            return "\n".join(f"  * {_escaped(item)}" for item in block.items)
        case Table():
            head, *rows = block.rows
            lines = ["| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows)]
            return "\n".join(lines)
        case Code():
            return f"```\n{block.text}\n```"
        case Notice():
            return f"> {_escaped(block.text)}"


def _escaped(text: str) -> str:
    """Returns a text in which nothing is Markdown or a tag."""
    return re.sub(r"([\\*_<&\[\]`#])", r"\\\1", text)


def _unescaped(text: str) -> str:
    return re.sub(r"\\([\\*_<&\[\]`#])", r"\1", text)
