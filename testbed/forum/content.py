"""The forum's threads and its search: the truth that a crawl of the forum is compared with.

Everything follows from `words.yaml` and a thread's number, so that the server and a test always agree.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, timezone
from functools import cache
from importlib.resources import files
from random import Random
from typing import TYPE_CHECKING, Any, Literal

import yaml

from testbed.forum.kinds import API, ODD, PLAIN, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

Board = Literal["html", "ajax"]
Sort = Literal["new", "rel"]

TIMEZONE = timezone(timedelta(hours=8))  # Beijing; most pages show its time without naming it
THREADS_PER_BOARD = 300
SHARED_THREADS = 40  # are on both boards, with equal text
FIRST_ID = {"html": 1001, "ajax": 2001}
EPOCH = datetime(2026, 1, 1, 8, 0, tzinfo=TIMEZONE)
CHINESE_SHARE = 0.6  # of the threads; the rest is English
SPAN_MINUTES = 320 * 24 * 60  # threads are spread over that time, from EPOCH to the middle of November

# Which stories have a feature: those whose number leaves the remainder AT when it is divided by EVERY. The divisors are
# primes, so that all combinations of features occur.
ODD_EVERY, ODD_AT = 13, 6
LONG_EVERY, LONG_AT = 17, 7  # some 30 threads have 2 to 4 pages
VIDEO_EVERY, VIDEO_AT = 29, 5  # some 20 threads have a video
SHARED_EVERY, SHARED_AT = 7, 3


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread, as a right crawl has it in an item.

    Attributes:
        id: Unique over both boards.
        story: What it was made of; two threads with one story have equal text, one on each board.
        kind: How its page behaves.
        published: In the forum's time zone, whole minutes.
        language: `zh` or `en`.
        regions: 1 or 2 that the text names.
        person: Somebody whom the text names; a Chinese text adds the English form of the name.
        events: 1 to 5 that the text names.
        pages: The paragraphs of each page.
        images: Image ids; `image_path` tells where they are.
        video: Video id; None where there is no video.
    """

    id: int
    story: int
    board: Board
    kind: Kind
    title: str
    author: str
    published: datetime
    language: str
    regions: tuple[str, ...]
    person: str
    events: tuple[str, ...]
    pages: tuple[tuple[str, ...], ...]
    images: tuple[int, ...]
    video: int | None

    @property
    def path(self) -> str:
        """The path that the search results link to."""
        return self.kind.path.format(id=self.id)

    @property
    def paragraphs(self) -> tuple[str, ...]:
        """The paragraphs of all pages."""
        return tuple(paragraph for page in self.pages for paragraph in page)

    @property
    def created_ms(self) -> int:
        """`published` in ms since the Unix epoch."""
        return int(self.published.timestamp()) * 1000

    def images_on(self, page: int) -> tuple[int, ...]:
        """Returns the ids of the images on a page, which is counted from 1; the pages get the images in turn."""
        return self.images[page - 1 :: len(self.pages)]


def image_path(image: int) -> str:
    """Returns the path of an image."""
    return f"/img/{image}.png"


def video_path(video: int) -> str:
    """Returns the path of a video."""
    return f"/video/{video}.mp4"


@cache
def threads() -> tuple[Thread, ...]:
    """Returns all threads, the HTML board's first, each board by id."""
    html = [_thread(number, FIRST_ID["html"] + number, "html") for number in range(THREADS_PER_BOARD)]
    shared = [t for t in html if t.kind is PLAIN and t.story % SHARED_EVERY == SHARED_AT][:SHARED_THREADS]
    first = FIRST_ID["ajax"]
    ajax = [replace(t, id=first + place, board="ajax", kind=API) for place, t in enumerate(shared)]
    ajax += [_thread(THREADS_PER_BOARD + place, first + place, "ajax") for place in range(len(ajax), THREADS_PER_BOARD)]
    return (*html, *ajax)


def thread(thread_id: int) -> Thread | None:
    """Returns the thread with that id; None when there is none."""
    return _by_id().get(thread_id)


@cache
def image_ids() -> frozenset[int]:
    """Returns the ids of all images."""
    return frozenset(image for t in threads() for image in t.images)


@cache
def video_ids() -> frozenset[int]:
    """Returns the ids of all videos."""
    return frozenset(t.video for t in threads() if t.video is not None)


def expected_results(
    words: str | Iterable[str], board: Board = "html", *, sort: Sort = "new", since: date | None = None
) -> list[Thread]:
    """Searches a board, as the forum itself does.

    Args:
        words: Keywords, parted by spaces where they are one text. Title or text must have each of them, in upper or
            lower case. Without any words, every thread matches.
        board: Where to search.
        sort: `new`: the latest first; `rel`: the most mentions of the words first, among equals the latest.
        since: The first day, in the forum's time zone; None: from the beginning.

    Returns:
        The threads in the order of the sort, those with equal times by id. Empty when nothing matches.
    """
    wanted = (words if isinstance(words, str) else " ".join(words)).casefold().split()
    texts = _texts()
    results = [
        t
        for t in threads()
        if t.board == board
        and all(word in texts[t.id] for word in wanted)
        and (since is None or t.published.date() >= since)
    ]
    results.sort(key=lambda t: (-t.created_ms, t.id))
    if sort == "rel":
        results.sort(key=lambda t: -sum(texts[t.id].count(word) for word in wanted))
    return results


@cache
def _by_id() -> dict[int, Thread]:
    return {t.id: t for t in threads()}


@cache
def _texts() -> dict[int, str]:
    return {t.id: "\n".join((t.title, *t.paragraphs)).casefold() for t in threads()}


@cache
def _words() -> dict[str, dict[str, Any]]:
    text = (files("testbed.forum") / "words.yaml").read_text(encoding="utf-8")
    words: dict[str, dict[str, Any]] = yaml.safe_load(text)
    return words


def _thread(story: int, thread_id: int, board: Board) -> Thread:
    rng = Random(f"forum story {story}")
    kind = API if board == "ajax" else PLAIN
    odd = board == "html" and story % ODD_EVERY == ODD_AT
    if odd:
        kind = ODD[story // ODD_EVERY % len(ODD)]
    language = "zh" if odd or rng.random() < CHINESE_SHARE else "en"
    words = _words()[language]
    # The demo's plan asks for the first region and the first events, so that the demo meets every odd thread.
    regions = words["regions"][:1] if odd else _pick(rng, words["regions"], max_words=2)
    events = words["events"][:3] if odd else _pick(rng, words["events"], max_words=5)
    person = rng.randrange(len(words["persons"]))
    fields = {
        "regions": words["comma"].join(regions),
        "events": words["and"].join(events),
        "person": words["persons"][person],
        "person_en": _words()["en"]["persons"][person],
    }
    page_count = rng.randint(2, 4) if story % LONG_EVERY == LONG_AT and not odd else 1
    image_count = rng.choice((0, 0, 1, 1, 2, 3))
    return Thread(
        id=thread_id,
        story=story,
        board=board,
        kind=kind,
        title=_say(rng, words, rng.choice(words["title"]), fields),
        author=rng.choice(words["authors"]),
        published=EPOCH + timedelta(minutes=rng.randrange(SPAN_MINUTES)),
        language=language,
        regions=tuple(regions),
        person=words["persons"][person],
        events=tuple(events),
        pages=tuple(_paragraphs(rng, words, fields, first=page == 0) for page in range(page_count)),
        images=tuple(story * 10 + place for place in range(image_count)),
        video=story if story % VIDEO_EVERY == VIDEO_AT else None,
    )


def _pick(rng: Random, words: list[str], max_words: int) -> list[str]:
    """Picks 1 to `most` different words. The first of the list come up most often, so that searches overlap."""
    picked: list[str] = []
    for _ in range(rng.randint(1, max_words)):
        word = words[min(rng.randrange(len(words)) for _ in range(3))]
        if word not in picked:
            picked.append(word)
    return picked


def _paragraphs(rng: Random, words: dict[str, Any], fields: dict[str, str], *, first: bool) -> tuple[str, ...]:
    sentences = rng.sample(words["sentences"], rng.randint(6, len(words["sentences"])))
    spoken = [_say(rng, words, sentence, fields) for sentence in sentences]
    paragraphs = [words["space"].join(spoken[start : start + 2]) for start in range(0, len(spoken), 2)]
    if first:
        opening = [_say(rng, words, words[part], fields) for part in ("opening", "witness")]
        paragraphs.insert(0, words["space"].join(opening))
    return tuple(paragraphs)


def _say(rng: Random, words: dict[str, Any], sentence: str, fields: dict[str, str]) -> str:
    drawn = {
        "place": rng.choice(words["places"]),
        "number": str(rng.randint(100, 9999)),
        "hour": str(rng.randint(1, 23)),
    }
    return sentence.format(**fields, **drawn)
