"""A made site of twelve traps, and 500 true pages beside them, each of which leads to some of the traps."""

from __future__ import annotations

import hashlib
import random
from urllib.parse import parse_qsl, urlencode, urlsplit

from hostile.hostile_wire_bodies import answer

TRUE_PAGES = 500
MAX_REQUESTS = 200  # of each trap
NEWS, STORIES, ARTICLES, MANUALS = range(300), range(100), range(60), range(40)
ON_A_LIST = 20
WORDS = [
    f"{begin}{end}"
    for begin in "river stone light north harbour winter garden copper silent amber meadow signal bridge".split()
    for end in ("", "s", "ing", "land", "wards", "less", "fold", "ment")
]
TRAPS = (
    "doubled", "session", "calendar", "facets", "growing", "deep", "repeated", "mirror", "long", "relative", "variant",
    "soft404",
)  # fmt: skip
COLOURS, SIZES, BRANDS, ORDERS = "red green blue black white".split(), "smlx", "abcdef", "price name age".split()


def sentences(name, number=6):
    """Returns a text that no other page has, and that is always the same."""
    chance = random.Random(name)
    return " ".join(f"{' '.join(chance.choices(WORDS, k=12)).capitalize()}." for _ in range(number))


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def word(text, number):
    return f"{random.Random(f'{text}{number}').choice(WORDS)}-{random.Random(f'{number}{text}').choice(WORDS)}"


class TrapSite:
    """Answers a path.

    Attributes:
        twin: The origin of a host that says the same; its own pages don't lead back here.
    """

    def __init__(self, twin=""):
        self.twin = twin

    def __call__(self, path):
        url = urlsplit(path)
        while "//" in (bare := url.path):
            url = url._replace(path=bare.replace("//", "/"))
        first = url.path.removesuffix("index.html").split("/")[1]
        title, text, links = getattr(self, first or "home", self.soft404)(url)
        anchors = "".join(f"<a href='{link}'>{name}</a> " for name, link in links)
        menu = "<nav><a href='/'>The first page of this site</a> <a href='/list?page=1'>News of all days</a></nav>"
        body = f"<title>{title}</title>{menu}<h1>{title}</h1><article><p>{text}</p></article><ul>{anchors}</ul>"
        return [answer(f"<html><body>{body}<footer>Made for tests alone, with no rights reserved</footer>".encode())]

    def true(self, path, links=()):
        """Returns a true page, which leads to traps as such pages do."""
        here = path.strip("/")
        traps = [
            ("again", "/" + here.replace("/", "//", 1)),
            ("account", f"/session/login.php?sid={digest(path)}"),
            ("today", "/calendar/2026/11"),
            ("shop", f"/facets?colour={COLOURS[len(path) % 5]}&from={digest(path)[:6]}"),
            ("print", f"/variant/print/{here}"),
            ("answer", f"/variant/reply?to={here}"),
            ("by date", f"/variant/news?sort=date&of={here}"),
            ("twin", f"{self.twin}/{here}"),
            ("missing", f"/soft404/{word(path, 0)}"),
        ]
        return f"About {path}", sentences(here), [*links, *traps]

    # -- True pages ---------------------------------------------------------------------------------------------------

    def home(self, _url):
        entrances = [("more", f"/{name}/") for name in ("growing", "deep", "repeated", "relative")]
        links = [("News", "/list?page=1"), ("Stories", "/story/0"), ("Manuals", "/manuals/"), ("Long", "/long?q=a")]
        return "The first page", sentences("home"), [*links, ("Articles", f"/wiki/{word('wiki', 0)}-0"), *entrances]

    def list(self, url):
        page = int(dict(parse_qsl(url.query))["page"])
        numbers = [number for number in NEWS if number // ON_A_LIST == page - 1]
        further = [("Next", f"/list?page={page + 1}")] if numbers and numbers[-1] + 1 < len(NEWS) else []
        return (
            f"News, page {page}",
            "",
            [*((f"News {n}", f"/news/2026/{n % 12 + 1:02}/{n}") for n in numbers), *further],
        )

    def news(self, url):
        return self.true(url.path)

    def story(self, url):
        number = int(url.path.rsplit("/", 1)[1])
        near = [n for n in (number - 1, number + 1) if n in STORIES]
        return self.true(url.path, [("near", f"/story/{n}") for n in near])

    def wiki(self, url):
        number = int(url.path.rsplit("-", 1)[1])
        near = {(number * 3 + step) % len(ARTICLES) for step in range(1, 9)}
        return self.true(url.path, [("see", f"/wiki/{word('wiki', n)}-{n}") for n in sorted(near)])

    def manuals(self, url):
        if url.path.count("/") < 4:
            folders = [f"/manuals/part{n // 10}/chapter{n % 10}/page.html" for n in MANUALS]
            return "Manuals", sentences("manuals"), [(folder, folder) for folder in folders]
        return self.true(url.path)

    def true_paths(self):
        """Returns the paths of the 500 true pages."""
        news = [f"/news/2026/{n % 12 + 1:02}/{n}" for n in NEWS]
        articles = [f"/wiki/{word('wiki', n)}-{n}" for n in ARTICLES]
        manuals = [f"/manuals/part{n // 10}/chapter{n % 10}/page.html" for n in MANUALS]
        return {*news, *(f"/story/{n}" for n in STORIES), *articles, *manuals}

    # -- Traps --------------------------------------------------------------------------------------------------------

    def session(self, url):
        links = [("on", f"/session/{name}.php?sid={digest(url.query + name)}") for name in "abcde"]
        return "Your account", "Please log in before you look at your account here.", links

    def calendar(self, url):
        year, month = (int(part) for part in url.path.split("/")[2:4])
        near = [divmod(year * 12 + month - 1 + step, 12) for step in (-1, 1)]
        months = "January February March April May June July August September October November December".split()
        days = [(str(day), f"/calendar/{year}/{month}/{day}") for day in range(1, 29)]
        text = f"Events in {months[month - 1]} {year}: there are none on any of these days."
        return "Calendar", text, [*(("month", f"/calendar/{y}/{m + 1}") for y, m in near), *days]

    def facets(self, url):
        chosen = dict(parse_qsl(url.query))
        more = {"colour": COLOURS, "size": SIZES, "brand": BRANDS, "order": ORDERS, "page": "123456789"}
        links = [
            (f"{name} {value}", f"/facets?{urlencode(sorted((chosen | {name: value}).items()))}")
            for name, values in more.items()
            for value in values
        ]
        shown = [sentences(f"product {n}", 1) for n in range(20) if (n + len(chosen)) % 3]
        return "Shop", "<br>".join(shown), links

    def growing(self, url):
        here = url.path.rstrip("/")
        return "Folders", "All that is in this folder and in those below.", [(n, f"{here}/{n}/") for n in ("a", "b")]

    def deep(self, url):
        here = url.path.rstrip("/")
        links = [(word(here, n), f"{here}/{word(here, n)}/") for n in range(3)]
        return "Tree", "This is one of many branches of a tree without an end.", links

    def repeated(self, _url):
        return "Again", "This leads to itself again and again and again.", [("on", "again/"), ("more", "again/again/")]

    def long(self, url):
        return "Search", "What was looked for was not found in any of our pages.", [
            (sign, f"{url.path}?{url.query}{sign * 150}") for sign in "ab"
        ]  # fmt: skip

    def relative(self, _url):
        return "Guide", "How to find one's way in a guide that has no end.", [("in", "guide/"), ("api", "api/x.html")]

    def variant(self, url):
        of = dict(parse_qsl(url.query)).get("of") or dict(parse_qsl(url.query)).get("to") or url.path[15:]
        links = [(f"by {key}", f"/variant/news?sort={key}&of={of}") for key in ("date", "name", "size")]
        return "Another form", sentences(of), [*links, ("print", f"/variant/print/{of}"), ("page", f"/{of}")]

    def soft404(self, url):
        links = [("try", f"/soft404/{word(url.path, n)}") for n in range(4)]
        return (
            "Nothing",
            f"The page {url.path} was not found, but these are.",
            [*links, ("or", f"/{word(url.path, 9)}")],
        )


def trap_of(path):
    """Returns which trap a path is of; empty: it is a true page or a list."""
    if "//" in path or path.endswith("/index.html"):
        return "doubled"
    first = urlsplit(path).path.split("/")[1]
    if first in TRAPS:
        return first
    return "" if first in ("", "list", "news", "story", "wiki", "manuals") else "soft404"
