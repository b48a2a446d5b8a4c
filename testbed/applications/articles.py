"""What the applications are filled with: the same articles every time, in English and Chinese.

Each has what makes reading hard: headings, lists, a table, code, a notice that its application frames in its own way,
names and dates within the text, and comments.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

ARTICLES = 300
FIRST = datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)  # when the first article was written
ANSWERS = 0.4  # share of the later comments that answer another one
WORD = "bulletin"  # stands in each article, so that one search finds them all
AUTHORS = ("Yara Mueller", "Li Wei", "Tomas Novak", "Amina Diallo", "Grace Lee", "王小明")
PLACES = ("Chongqing", "Chengdu", "Kunming", "Guiyang", "Wuhan", "Changsha", "Nanning")
EVENTS = ("flood", "earthquake", "drought", "landslide", "snowfall")
SENTENCES = (
    "The water at {place} stood {number} centimetres above the mark before the wall gave way.",
    "{author} counted {number} families in the school and asked for blankets, rice and lamps.",
    "Since the {event} the road to {place} is open for lorries only, from six in the morning until noon.",
    "A boat with {number} people on board came back late, and nobody was hurt.",
    "On 3 May the council of {place} will decide whether the bridge is built again or left as it is.",
    "Those who lost their papers in the {event} get new ones at the town hall, room {number}.",
    "Teachers say that {number} pupils had never seen the river so high, nor so brown.",
    'The market sells "what came through", as {author} puts it: onions, salt & candles at {number} < 90 yuan.',
)
CHINESE_PLACES = ("重庆", "成都", "昆明", "贵阳", "武汉", "长沙", "南宁")
CHINESE_EVENTS = ("洪水", "地震", "干旱", "山体滑坡", "暴雪")
CHINESE_SENTENCES = (
    "{place}的水位比警戒线高出{number}厘米,堤坝随后决口。",
    "志愿者在学校里登记了{number}户家庭,急需棉被、大米和手电筒。",
    "{event}发生以后,通往{place}的公路每天只在上午对货车开放。",
    "一艘载有{number}人的船很晚才返回,没有人员受伤。",
    "{place}市政府将于五月三日决定是否重建大桥。",
    "在{event}中丢失证件的居民可以到市政厅{number}号房间补办。",
)
REMARKS = (
    "Thank you, {author}. We saw the same at our end of the town, number {number}.",
    "Is there a list of the {number} houses?\nMy parents live there.",
    "I was there on the second day and it was not as bad as this says.",
    "谢谢分享,我们这里有{number}户也需要帮助。",
)


class Heading(NamedTuple):
    """A heading within the text."""

    text: str


class Paragraph(NamedTuple):
    """Some sentences."""

    text: str


class Bullets(NamedTuple):
    """A list without numbers."""

    items: tuple[str, ...]


class Table(NamedTuple):
    """A table; its first row has the names of the columns."""

    rows: tuple[tuple[str, ...], ...]


class Code(NamedTuple):
    """Text whose lines and spaces count."""

    text: str


class Notice(NamedTuple):
    """A sentence that stands in a frame."""

    text: str


Block = Heading | Paragraph | Bullets | Table | Code | Notice


class ArticleComment(NamedTuple):
    """What a reader wrote.

    Attributes:
        published: In UTC, to the second.
        parent: The number of the comment that it answers, from 0; None: the article.
    """

    author: str
    published: datetime
    text: str
    parent: int | None = None


@dataclass(frozen=True, slots=True)
class Article:
    """One article.

    Attributes:
        published: In UTC, to the second.
        is_chinese: Whether its language is Chinese; else it is English.
        former_title: A title that leads here by a redirect, where the application has such; empty: none.
    """

    number: int
    title: str
    author: str
    published: datetime
    is_chinese: bool
    blocks: tuple[Block, ...]
    comments: tuple[ArticleComment, ...] = ()
    former_title: str = ""

    @property
    def text(self) -> str:
        """What a reader reads: all blocks, one after the other."""
        return "\n".join(map(words_of, self.blocks))


def words_of(block: Block) -> str:
    """Returns a block's text as a reader sees it."""
    match block:
        case Bullets():
            return "\n".join(block.items)
        case Table():
            return "\n".join(" ".join(row) for row in block.rows)
        case _:
            return block.text


def articles(count: int = ARTICLES) -> list[Article]:
    """Returns so many articles; every fourth one is Chinese, every tenth has a former title."""
    return [_article(number) for number in range(count)]


def _article(number: int) -> Article:
    chance = random.Random(number)
    is_chinese = number % 4 == 0
    places, events, sentences = (
        (CHINESE_PLACES, CHINESE_EVENTS, CHINESE_SENTENCES) if is_chinese else (PLACES, EVENTS, SENTENCES)
    )
    place, event, author = chance.choice(places), chance.choice(events), chance.choice(AUTHORS)

    def spoken(count: int) -> str:
        chosen = (chance.choice(sentences) for _ in range(count))
        separator = "" if is_chinese else " "
        return separator.join(
            sentence.format(place=place, event=event, author=chance.choice(AUTHORS), number=chance.randrange(2, 400))
            for sentence in chosen
        )

    published = FIRST + timedelta(hours=31 * number, minutes=chance.randrange(60), seconds=chance.randrange(60))
    opening = f"This {WORD} has the number {number}. " if not is_chinese else f"这是第{number}号通报({WORD} {number})。"
    blocks: list[Block] = [Paragraph(opening + spoken(3)), Paragraph(spoken(chance.randrange(2, 6)))]
    if number % 2:
        blocks += [Heading(spoken(1).split(",")[0].split(".")[0][:40]), Paragraph(spoken(4))]
    if number % 3 == 0:
        blocks.append(Bullets(tuple(spoken(1) for _ in range(chance.randrange(2, 6)))))
    if number % 3 == 1:
        names = ("地点", "人数", "日期") if is_chinese else ("Place", "People", "Day")
        rows = [
            (chance.choice(places), str(chance.randrange(9_000)), f"2024-0{chance.randrange(1, 9)}-1{row}")
            for row in range(chance.randrange(2, 6))
        ]
        blocks.append(Table((names, *rows)))
    if number % 5 == 0:
        blocks.append(
            Code(f"def level(day):\n    if day < {number}:\n        return 'low'\n\n    return day * {number}")
        )
    if number % 7 == 0:
        blocks.append(Notice(spoken(1)))
    blocks.append(Paragraph(spoken(chance.randrange(1, 4))))
    title = f"{place}{event}通报第{number}号" if is_chinese else f"{place} after the {event}, report {number}"
    return Article(
        number,
        title,
        author,
        published,
        is_chinese,
        tuple(blocks),
        _comments(chance, published, number % 6),
        f"Former name of report {number}" if number % 10 == 0 else "",
    )


def _comments(chance: random.Random, after: datetime, count: int) -> tuple[ArticleComment, ...]:
    """Returns comments, each some minutes after the one before; of two with the same words both count."""
    comments: list[ArticleComment] = []
    for number in range(count):
        after += timedelta(minutes=chance.randrange(3, 400), seconds=chance.randrange(60))
        text = chance.choice(REMARKS).format(author=chance.choice(AUTHORS), number=chance.randrange(2, 400))
        parent = chance.randrange(number) if number > 1 and chance.random() < ANSWERS else None
        comments.append(ArticleComment(chance.choice(AUTHORS), after, text, parent))
    return tuple(comments)
