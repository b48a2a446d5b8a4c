"""Reads a corpus of saved pages without selectors, and compares what comes out with its truth, by type of page.

A corpus is a folder in the form of WCXB: `html/NAME.html.gz` and `ground-truth/NAME.json`. `pages` beside this file is
a small one; give the folder of a whole one to see how well pages are read that nobody here has chosen. The measure is
that of its authors: the F1 of words, as multisets, averaged over pages.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import re
import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING

import yaml
from rich.console import Console
from rich.table import Table

from crawler import sites
from crawler.base.errors import ExtractError
from crawler.base.models import Fetched
from crawler.extract import Fields
from crawler.extract.article import read_article
from crawler.extract.document import Document
from crawler.extract.language import LANGUAGES, language_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TYPES = ("article", "forum", "product", "collection", "listing", "documentation", "service")
PAGES = Path(__file__).with_name("pages")
POSTS = Path(__file__).with_name("posts.yaml")  # of some pages of the whole corpus
_declared_language = re.compile(rb"<html[^>]*\slang=[\"']?([a-z]{2})\b", re.IGNORECASE).search
_words = re.compile(r"\w+").findall


@dataclass(frozen=True)
class CorpusPage:
    """A page of a corpus, with what is true of it."""

    name: str
    url: str
    type: str
    html: bytes
    text: str
    title: str
    author: str
    published: str


@dataclass(frozen=True)
class ReadPage:
    """What was read of a page, and what that is worth."""

    page: CorpusPage
    fields: Fields
    f1: float
    seconds: float


def pages_of(folder: Path) -> Iterator[CorpusPage]:
    """Yields the pages of a corpus, by name."""
    for path in sorted((folder / "ground-truth").glob("*.json")):
        described = json.loads(path.read_text(encoding="utf-8"))
        truth, kind = described["ground_truth"], described["_internal"]["page_type"]["primary"]
        yield CorpusPage(
            path.stem,
            described.get("url") or "https://example.org/",
            "collection" if kind == "category" else kind,
            gzip.decompress((folder / "html" / f"{path.stem}.html.gz").read_bytes()),
            truth.get("main_content") or "",
            truth.get("title") or "",
            truth.get("author") or "",
            truth.get("publish_date") or "",
        )


def half_of(name: str) -> str:
    """Returns which half of a corpus a page is in: one to look at, or one that is only scored."""
    return "unseen" if hashlib.sha256(name.encode()).digest()[-1] % 2 else "seen"


def words_of(text: str) -> list[str]:
    """Returns the words of a text, as the measure counts them."""
    return _words(text.lower())


def f1_of(read: str, true: str) -> float:
    """Returns the F1 of the words of two texts: 1 where both are empty, 0 where one is."""
    own, wanted = Counter(words_of(read)), Counter(words_of(true))
    common = (own & wanted).total()
    if not common:
        return float(not own and not wanted)
    return 2 * common / (own.total() + wanted.total())


def by_headroom(page: CorpusPage) -> Fields:
    """Returns what the crawler reads of a page."""
    try:
        return read_article(Document(Fetched(page.url, 200, "text/html", page.html)), sites.load("web"))
    except ExtractError:
        return Fields()


def by_trafilatura(page: CorpusPage) -> Fields:
    """Returns what trafilatura reads of a page, at its defaults."""
    from trafilatura import bare_extraction  # takes half a second, and is there for this alone

    read = bare_extraction(page.html, url=page.url, with_metadata=True)
    if read is None or isinstance(read, dict):
        return Fields()
    comments = f"\n{read.comments}" if read.comments else ""
    return Fields(content=(read.text or "") + comments, title=read.title or "", author=read.author, published=read.date)


READERS: dict[str, Callable[[CorpusPage], Fields]] = {"headroom": by_headroom, "trafilatura": by_trafilatura}


def read_all(folder: Path, reader: Callable[[CorpusPage], Fields]) -> list[ReadPage]:
    """Returns what a reader makes of each page of a corpus."""
    outcomes = []
    for page in pages_of(folder):
        began = time.process_time()
        fields = reader(page)
        seconds = time.process_time() - began
        outcomes.append(ReadPage(page, fields, f1_of(fields.content, page.text), seconds))
    return outcomes


def by_type(outcomes: list[ReadPage]) -> dict[str, float]:
    """Returns the mean F1 of the pages of each type, and of `all`."""
    scores = defaultdict(list)
    for outcome in outcomes:
        for name in (outcome.page.type, "all"):
            scores[name].append(outcome.f1)
    return {name: fmean(scores[name]) for name in (*TYPES, "all") if name in scores}


def posts_f1(outcomes: list[ReadPage]) -> float | None:
    """Returns the mean F1 of the posts of the threads whose posts are known: their authors, days and first words."""
    scores = []
    true_posts = yaml.safe_load(POSTS.read_text(encoding="utf-8"))
    for outcome in outcomes:
        if outcome.page.name not in true_posts:
            continue
        read = [(one.author, str(one.published)[:10], " ".join(words_of(one.text))) for one in outcome.fields.comments]
        left, right = [*read], 0
        for author, day, beginning in true_posts[outcome.page.name]:
            words = " ".join(words_of(beginning))
            same = next((one for one in left if one[:2] == (author, day) and words in one[2]), None)
            if same is not None:
                left.remove(same)
                right += 1
        scores.append(2 * right / (len(read) + len(true_posts[outcome.page.name])))
    return fmean(scores) if scores else None


def rights(outcomes: list[ReadPage]) -> dict[str, tuple[int, int, int]]:
    """Returns for each field how often it is right, wrong, and left out where the truth has it."""
    counts = {name: [0, 0, 0] for name in ("title", "author", "published")}
    for outcome in outcomes:
        for name, count in counts.items():
            true, read = getattr(outcome.page, name), getattr(outcome.fields, name) or ""
            if name == "published":
                true, read = true[:10], read[:10]
            if not true:
                count[1] += bool(read) and name != "title"
            elif not read:
                count[2] += 1
            else:
                count[_folded(read) != _folded(true)] += 1
    return {name: (right, wrong, none) for name, (right, wrong, none) in counts.items()}


def languages(outcomes: list[ReadPage]) -> tuple[int, int]:
    """Returns of how many texts the language is that of their page, and how many pages declare one that is known."""
    languages = [
        (declared[1].decode().lower(), language_of(f"{outcome.fields.title}\n{outcome.fields.content}"))
        for outcome in outcomes
        if outcome.fields.content and (declared := _declared_language(outcome.page.html))
    ]
    known = [declared == read for declared, read in languages if declared in LANGUAGES]
    return sum(known), len(known)


def _folded(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def table(results: dict[str, list[ReadPage]], half: str) -> Table:
    """Returns the figures of all readers, of the pages of a half."""
    shown = Table(title=f"F1 of words, {half} pages")
    for name in ("reader", *TYPES, "all", "CPU ms", "title", "author", "published"):
        shown.add_column(name, justify="left" if name == "reader" else "right")
    for reader, outcomes in results.items():
        own = [one for one in outcomes if half in ("all", half_of(one.page.name))]
        if own:
            scores = by_type(own)
            cells = [f"{scores[name]:.3f}" if name in scores else "" for name in (*TYPES, "all")]
            milliseconds = median(one.seconds for one in own) * 1000
            shown.add_row(reader, *cells, f"{milliseconds:.1f}", *("/".join(map(str, r)) for r in rights(own).values()))
    return shown


def main() -> int:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=PAGES, help="of a corpus; a small one if not given")
    parser.add_argument("--readers", nargs="+", choices=READERS, default=list(READERS))
    options = parser.parse_args()
    console = Console(width=150, highlight=False)
    results = {name: read_all(options.folder, READERS[name]) for name in options.readers}
    for half in ("seen", "unseen", "all"):
        console.print(table(results, half))
    for name, outcomes in results.items():
        if (posts := posts_f1(outcomes)) is not None:
            console.print(f"{name}: F1 of the posts of threads {posts:.3f}")
        same, declared = languages(outcomes)
        console.print(f"{name}: the text is in the language that its page declares on {same} of {declared}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
