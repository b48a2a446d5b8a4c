"""Trac, a tracker of tickets, from its wheel: the tickets are articles, and its own SQLite database is the truth."""

from __future__ import annotations

import contextlib
import sqlite3
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import TYPE_CHECKING

from testbed.applications.application import Application
from testbed.applications.articles import Article, Block, Bullets, Code, Heading, Notice, Paragraph, Table
from testbed.applications.page import Remark, TruePage
from testbed.applications.wheels import programs_of
from testbed.servers.process import run_to_end

if TYPE_CHECKING:
    from pathlib import Path

FILL_SECONDS = 60.0  # an empty tracker is made in 2 s
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TICKET = """INSERT INTO ticket (id, type, time, changetime, component, priority, owner, reporter, status, summary,
    description, keywords) VALUES (?, 'defect', ?, ?, 'component1', 'major', 'somebody', ?, 'new', ?, ?, '')"""
CHANGE = "INSERT INTO ticket_change (ticket, time, author, field, oldvalue, newvalue) VALUES (?, ?, ?, 'comment', ?, ?)"


class Trac(Application):
    """A tracker with a ticket for each article, and its comments."""

    NAME = "trac"
    PAGE = "/about"

    def __init__(self, folder: Path, count: int) -> None:
        super().__init__(folder, count)
        self._programs = programs_of("trac")
        self._filled = self._project = self.folder / "project"
        address = ["--hostname", "127.0.0.1", "--port", str(self.port)]
        self._runs([str(self._programs / "tracd"), "-s", *address, str(self._project)])

    def truth(self) -> list[TruePage]:
        """Returns its tickets: title, times, authors and comments as its database has them."""
        with contextlib.closing(sqlite3.connect(self._database)) as database:
            comments = database.execute(
                "SELECT ticket, author, time, newvalue, oldvalue FROM ticket_change WHERE field = 'comment'"
                " ORDER BY ticket, time"
            ).fetchall()
            remarks = {
                ticket: tuple(
                    Remark(author, _instant(time), text, _parent(place)) for _, author, time, text, place in rows
                )
                for ticket, rows in groupby(comments, key=lambda row: row[0])
            }
            texts = {_id(article): article.text for article in self.articles}
            return [
                TruePage(
                    f"{self.url}/ticket/{id_}",
                    title,
                    texts[id_],
                    _instant(time),
                    author=author,
                    comments=remarks.get(id_, ()),
                )
                for id_, title, time, author in database.execute("SELECT id, summary, time, reporter FROM ticket")
            ]

    @property
    def _database(self) -> Path:
        return self._project / "db" / "trac.db"

    def _fill(self) -> None:
        command = [
            str(self._programs / "trac-admin"),
            str(self._project),
            "initenv",
            "Town tracker",
            "sqlite:db/trac.db",
        ]
        run_to_end("initenv", command, self.folder, FILL_SECONDS)
        with contextlib.closing(sqlite3.connect(self._database)) as database, database:
            for article in self.articles:
                changed = article.comments[-1].published if article.comments else article.published
                text = "\n\n".join(map(_markup, article.blocks))
                times = _microseconds(article.published), _microseconds(changed)
                database.execute(TICKET, (_id(article), *times, article.author, article.title, text))
                for number, comment in enumerate(article.comments, 1):
                    place = str(number) if comment.parent is None else f"{comment.parent + 1}.{number}"
                    row = _id(article), _microseconds(comment.published), comment.author, place, comment.text
                    database.execute(CHANGE, row)


def _parent(place: str) -> int | None:
    """Returns which comment one answers, by its place such as `4`, or `1.4` if it answers the first."""
    before, dot, _own = place.partition(".")
    return int(before) - 1 if dot else None


def _id(article: Article) -> int:
    return article.number + 1


def _microseconds(time: datetime) -> int:
    return (time - EPOCH) // timedelta(microseconds=1)


def _instant(microseconds: int) -> datetime:
    return EPOCH + timedelta(microseconds=microseconds)


def _markup(block: Block) -> str:
    """Returns a block in Trac's syntax."""
    match block:
        case Heading():
            return f"== {block.text} =="
        case Paragraph():
            return block.text
        case Bullets():
            return "\n".join(f" * {item}" for item in block.items)
        case Table():
            head, *rows = block.rows
            lines = ["||" + "||".join(f"= {cell} =" for cell in head) + "||"]
            return "\n".join([*lines, *("||" + "||".join(row) + "||" for row in rows)])
        case Code():
            return f"{{{{{{\n{block.text}\n}}}}}}"
        case Notice():
            return f"{{{{{{#!div class=notice\n{block.text}\n}}}}}}"
