"""Are feeds and sitemaps read as the tests of two well-known readers say? `python -m testbed.truth.feeds FOLDER`.

FOLDER has `feedparser`, the feeds of feedparser's tests, and `crawler-commons`, the sitemaps and feeds of its tests. A
file of feedparser's begins with a comment that says what feedparser makes of it, as a condition in Python. The
condition is parsed, never run. Where no field of ours stands for what it asks, such as a feed's own title, tags or a
language, the file is counted apart. crawler-commons says in its tests how many pages a file names; PAGES repeats it.

Texts are compared as people read them, since feedparser leaves markup in; ids and dates as they are written.
"""

from __future__ import annotations

import argparse
import ast
import codecs
import html
import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any
from urllib.parse import urljoin
from zoneinfo import ZoneInfo

from crawler.base.errors import ExtractError
from crawler.base.models import Fetched
from crawler.extract.dates.instants import to_utc
from crawler.extract.encoding import utf8
from crawler.extract.feeds import parse_feed
from crawler.extract.sitemaps import parse_sitemap

SITE = "http://127.0.0.1:8097/"  # where feedparser's tests serve their files
# feedparser's names of what an entry of ours holds, places in lists left out -> our names; the first that there is
# counts: feedparser fills a description from the content, and a time of change from that of publication.
NAMES = {
    "title": ("title",),
    "title_detail.value": ("title",),
    "summary": ("summary",),
    "summary_detail.value": ("summary",),
    "description": ("summary", "content"),
    "content.value": ("content",),
    "link": ("link",),
    "id": ("id",),
    "guid": ("id",),
    "author": ("author",),
    "author_detail.name": ("author",),
    "authors.name": ("author",),
    "published": ("published",),
    "created": ("published",),
    "updated": ("updated", "published"),
}
# Files that are read otherwise, and why.
DEVIATIONS = {
    "encoding/utf-32*": "UTF-32, which no browser reads",
    "encoding/utf_32.xml": "UTF-32, which no browser reads",
    "encoding/bozo_linenoise.xml": "bytes that mean nothing; it is read as browsers read it",
    "encoding/*double-encoded-html.xml": "characters that were misread by who wrote them, as browsers show them",
    "wellformed/atom/*_multiple_values.xml": "of several values the first counts, not the last",
    "wellformed/atom/entry_published_parsed_date_overwriting.xml": "of several values the first counts, not the last",
    "wellformed/base/http_entry_id_*": "an id is an identifier, and stays as it is written",
    "wellformed/base/http_item_link_base_content_location.xml": "Content-Location is no base any more (RFC 7231)",
    "wellformed/rss/entity_in_doctype.xml": "no entity is resolved that a feed defines",
    "wellformed/rss/item_*_and_*.xml": "RSS has no summary beside a description; the first of both counts",
    "wellformed/rss/item_description_not_a_doctype.xml": "browsers show nothing of it: a comment",
}
# Of crawler-commons: how many pages or sitemaps a file names, by its tests.
PAGES = {
    "sitemaps/sitemap.ns.xml": 2,
    "sitemaps/sitemap.badns.xml": 2,
    "sitemaps/sitemap.index.xml": 15,
    "sitemaps/sitemap.txt": 2,
    "sitemaps/sitemap-with-bom.txt": 2,
    "sitemaps/do-not-visit.txt": 1,
    "sitemaps/sitemap.txt.gz": 5,
    "sitemaps/xmlSitemap.gz": 5,
    "sitemaps/atom.xml": 1,
    "sitemaps/extension/hebdenbridgetimes-articles-sitemap.xml": 74,
    "sitemaps/extension/pagemaps-sitemap.xml": 2,
    "sitemaps/extension/shinpaideshou-news-sitemap.xml": 3,
    "sitemaps/extension/sitemap-images.xml": 1,
    "sitemaps/extension/sitemap-links.xml": 3,
    "sitemaps/extension/sitemap-mobile.xml": 3,
    "sitemaps/extension/sitemap-news.xml": 2,
    "sitemaps/extension/sitemap-videos-tvshow.xml": 1,
    "sitemaps/extension/sitemap-videos.xml": 3,
    "rss/feed.rss": 4,
    "rss/xmlRss_pubDate.xml": 7,
}
_expectation = re.compile(r"Expect:\s*(.*?)\s*-->", re.DOTALL).search
_content_type = re.compile(r"Header:\s*Content-type:\s*(.*)", re.IGNORECASE).search
_tags = re.compile(r"<!--.*?-->|</?[A-Za-z][^>]*>", re.DOTALL)
_mail = re.compile(r"\s*[(<]?\b[\w.+-]+@[\w.-]+\b[)>]?\s*")
ENCODINGS = ("utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be", "cp037", "latin-1")


class NotOursError(Exception):
    """A condition asks for what no field of ours stands for; its text says for what."""


@dataclass
class Folder:
    """How the files of a folder were read.

    Attributes:
        right: Number of files that are read as the suite says.
        wrong: The others of which it says something that a field of ours stands for, each with what is wrong.
        not_ours: Number of files of which it asks something else, by what it asks.
    """

    right: int = 0
    wrong: dict[str, str] = field(default_factory=dict)
    not_ours: Counter[str] = field(default_factory=Counter)

    def count(self, name: str, faults: list[str], not_ours: str) -> None:
        """Counts a file."""
        if faults:
            self.wrong[name] = "; ".join(faults)
        elif not_ours:
            self.not_ours[not_ours] += 1
        else:
            self.right += 1


def feedparser_folders(suite: Path) -> dict[str, Folder]:
    """Returns how the files of feedparser's tests are read, by folder."""
    folders: dict[str, Folder] = {}
    for file in sorted(suite.rglob("*.xml")):
        body = file.read_bytes()
        name = str(file.relative_to(suite))
        folder = folders.setdefault(str(file.parent.relative_to(suite)), Folder())
        folder.count(name, *_judged(name, body, _header_comment(body)))
    return folders


def _header_comment(body: bytes) -> str:
    """Returns a file's text in the first encoding in which it has an expectation; empty: it has none."""
    for encoding in ENCODINGS:
        try:
            text = body.decode(encoding)
        except UnicodeDecodeError:
            continue
        if _expectation(text):
            return text
    return ""


def _judged(name: str, body: bytes, text: str) -> tuple[list[str], str]:
    """Returns what is wrong in our reading of a file, and what it asks that no field of ours stands for."""
    expectation, content_type = _expectation(text), _content_type(text)
    if expectation is None:
        return [], "nothing"
    page = Fetched(SITE + name, 200, content_type[1].strip() if content_type else "application/xml", body)
    try:
        reading = _FeedReading(page, parse_feed(page)["entries"])
    except ExtractError as error:
        reading = _FeedReading(page, [], error)
    condition = ast.parse(expectation[1], mode="eval").body
    parts = condition.values if isinstance(condition, ast.BoolOp) and isinstance(condition.op, ast.And) else [condition]
    faults, asked, not_ours = [], 0, ""
    for part in parts:
        try:
            if not reading.fulfils(part):
                faults.append(reading.fault(part))
            asked += 1
        except NotOursError as error:
            not_ours = str(error)  # the last: what comes first is whether the file is well-formed
    return faults, "" if asked else not_ours


def crawler_commons_folders(suite: Path) -> dict[str, Folder]:
    """Returns how the files of crawler-commons' tests are read, by folder."""
    folders: dict[str, Folder] = {}
    for name, pages in PAGES.items():
        page = Fetched(SITE + name, 200, "", (suite / name).read_bytes())
        try:
            if name.startswith("rss/") or "atom" in name:
                number = len(parse_feed(page)["entries"])
            else:
                number = sum(1 for entries in parse_sitemap(page).values() for entry in entries if entry.get("link"))
            faults = [] if number == pages else [f"{number} pages, expected {pages}"]
        except ExtractError as error:
            faults = [str(error)]
        folders.setdefault(str(Path(name).parent), Folder()).count(name, faults, "")
    return folders


class _FeedReading:
    """What we read of a file, asked in feedparser's words."""

    def __init__(self, page: Fetched, entries: list[dict[str, str]], error: ExtractError | None = None) -> None:
        self._page = page
        self._entries = entries
        self._error = error

    def fulfils(self, condition: ast.expr) -> bool:  # noqa: PLR0911 -- one for each form
        """Returns whether a condition holds.

        Raises:
            NotOursError: It asks for something else than a field of ours, or in a form that isn't known here.
        """
        match condition:
            case ast.UnaryOp(ast.Not(), operand):
                return not self.fulfils(operand)
            case ast.BoolOp(ast.Or(), parts):
                return any(self.fulfils(part) for part in parts)
            case ast.Compare(ast.Name("encoding"), [ast.Eq()], [ast.Constant(str(encoding))]):
                return self._is_in(encoding)
            case ast.Compare(ast.Call(ast.Name("ord"), [character]), [ast.Eq()], [ast.Constant(int(code))]):
                return self._says(character, chr(code))
            case ast.Compare(first, [ast.Eq(), *_], [*others, last]):
                return all(self._says(value, _literal(last)) for value in (first, *others))
            case ast.Call(ast.Attribute(ast.Subscript() as entry, "has_key"), [ast.Constant(str(name))]):
                return self._says(ast.Subscript(entry, ast.Constant(name)), expected=None)
            case ast.Subscript() | ast.Attribute():
                return self._says(condition, expected=True)
        raise NotOursError("whether it is well-formed, and other forms of conditions")

    def fault(self, condition: ast.expr) -> str:
        """Returns what is wrong, for people."""
        return f"{self._error or self._entries}, expected {ast.unparse(condition)}"

    def _is_in(self, encoding: str) -> bool:
        """Returns whether the file was read as it reads in an encoding."""
        if self._error is not None:
            return False
        decoded, _name = utf8(self._page)
        expected = self._page.body.decode(codecs.lookup(encoding).name, "replace")
        return decoded.decode().lstrip("\ufeff") == expected.lstrip("\ufeff")

    def _says(self, value: ast.expr, expected: object) -> bool:
        """Returns whether a value is as expected; whether there is any, where that is None."""
        root, *keys = _path(value)
        if root != "entries":
            raise NotOursError("the feed's own fields" if root == "feed" else "headers and versions")
        place, *keys = keys
        if any(isinstance(key, int) and key > 0 for key in keys):
            raise NotOursError("further authors and contents")
        name = ".".join(str(key) for key in keys if not isinstance(key, int))
        entry = self._entries[int(place)] if int(place) < len(self._entries) else {}
        if name == "guidislink":
            return (entry.get("link") == entry.get("id")) == bool(expected)
        if (names := NAMES.get(name.removesuffix("_parsed"))) is None:
            raise NotOursError(_kind_of(keys))
        ours = next((entry[one] for one in names if one in entry), "")
        if expected is None:
            return bool(ours)
        if isinstance(expected, tuple):
            return _is_instant(ours, expected)
        return _is_same(names[0], urljoin(self._page.url, ours) if name == "link" else ours, str(expected))


def _path(node: ast.expr) -> tuple[str | int, ...]:
    """Returns the names and places by which an expression reaches a value."""
    match node:
        case ast.Name(name):
            return (name,)
        case ast.Attribute(value, name):
            return (*_path(value), name)
        case ast.Subscript(value, ast.Constant(str(key) | int(key))):
            return (*_path(value), key)
    raise NotOursError("conditions of other forms")


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise NotOursError("conditions of other forms") from None


def _kind_of(keys: list[str | int]) -> str:
    if keys[0] == "source":
        return "the source of an entry"
    if keys[-1] in {"base", "language", "type"}:
        return "languages, types and bases of fields"
    return "tags, contributors, rights, media and other fields"


def _is_same(name: str, ours: str, expected: str) -> bool:
    if name in {"title", "summary", "content"}:
        return " ".join(ours.split()) == " ".join(html.unescape(_tags.sub("", expected)).split())
    if name == "author":
        return _mail.sub("", ours).strip(" ()") == _mail.sub("", expected).strip(" ()") or ours == expected
    return ours == expected


def _is_instant(ours: str, expected: tuple[int, ...]) -> bool:
    year, month, day, hour, minute, second, *_ = expected
    return to_utc(ours, ZoneInfo("UTC")) == f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"


def main() -> int:
    """Prints how many files are read as the suites say, and why not the others; returns 1 if a reason is missing."""
    parser = argparse.ArgumentParser(usage="python -m testbed.truth.feeds FOLDER", description=__doc__)
    parser.add_argument("folder", type=Path, help="with the folders feedparser and crawler-commons")
    root = parser.parse_args().folder
    suites = {
        "feedparser": feedparser_folders(root / "feedparser"),
        "crawler-commons": crawler_commons_folders(root / "crawler-commons"),
    }
    print("| suite | folder | files | of which a field of ours is asked | read as there |\n|---|---|---|---|---|")
    wrong: dict[str, str] = {}
    not_ours: Counter[str] = Counter()
    for suite, folders in suites.items():
        for name, folder in folders.items():
            asked, apart = folder.right + len(folder.wrong), folder.not_ours.total()
            print(f"| {suite} | {name} | {asked + apart} | {asked} | {folder.right} |")
            wrong |= folder.wrong
            not_ours += folder.not_ours
        asked = sum(folder.right + len(folder.wrong) for folder in folders.values())
        apart = sum(folder.not_ours.total() for folder in folders.values())
        print(f"| {suite} | all | {asked + apart} | {asked} | {sum(folder.right for folder in folders.values())} |")
    print("\nFiles that ask for something else alone:")
    for kind, number in not_ours.most_common():
        print(f"{number:5} {kind}")
    print("\nRead otherwise:")
    for name, fault in wrong.items():
        print(f"{name}: {_reason(name) or fault}")
    return int(any(not _reason(name) for name in wrong))


def _reason(name: str) -> str:
    return next((reason for pattern, reason in DEVIATIONS.items() if fnmatch(name, pattern)), "")


if __name__ == "__main__":
    sys.exit(main())
