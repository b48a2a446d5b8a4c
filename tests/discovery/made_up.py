"""Made-up sites of many shapes, each with the same articles: what discovery has to understand without a server.

A site is a function from a request to an answer. Articles are in English or Chinese, and each page has menus, lists of
other articles and the like around it, as sites have.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from html import escape
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from crawler.base.errors import UnavailableError
from crawler.base.models import Fetched, LoadedJson

ORIGIN = "https://site.test"
NOUNS = [
    "harbour",
    "bridge",
    "market",
    "library",
    "station",
    "museum",
    "garden",
    "theatre",
    "airport",
    "stadium",
    "school",
    "hospital",
]
PEOPLE = ("Ann Becker", "Bob Stone", "Carla Diaz", "Dmitri Orlov", "Eve Lund")
PLACES = ["桥梁", "市场", "车站", "学校", "医院", "公园", "港口", "机场", "剧院", "体育馆", "图书馆", "博物馆"]
NAMES = ("王小明", "李芳", "张伟", "刘洋")


@dataclass(frozen=True)
class Article:
    number: int
    title: str
    author: str
    date: str
    paragraphs: tuple[str, ...]

    @property
    def text(self):
        return "".join(f"<p>{escape(one)}</p>" for one in self.paragraphs)


def _english(number):
    noun = NOUNS[number % len(NOUNS)]
    return Article(
        number,
        f"Flood closes the {noun} for {number + 2} days",
        PEOPLE[number % len(PEOPLE)],
        f"2026-{1 + number % 9:02}-{1 + number % 27:02} {8 + number % 12:02}:{number % 60:02}",
        tuple(
            f"The water near the {noun} rose by {number * 7 + part} centimetres on the {part + 1}. day, and the people of "
            f"ward {number * 3 + part} were told to leave their houses before {part + 3} in the afternoon."
            for part in range(4)
        ),
    )


def _chinese(number):
    place = PLACES[number % len(PLACES)]
    return Article(
        number,
        f"洪水过后{place}第{number + 2}天重新开放",
        NAMES[number % len(NAMES)],
        f"2026年{1 + number % 9}月{1 + number % 27}日 {8 + number % 12:02}:{number % 60:02}",
        tuple(
            f"{place}附近的水位在第{part + 1}天上涨了{number * 7 + part}厘米，{number * 3 + part}号小区的居民在下午{part + 3}"
            f"点之前全部撤离，社区工作人员逐户登记了姓名和电话号码。"
            for part in range(4)
        ),
    )


ENGLISH = [_english(number) for number in range(101, 137)]
CHINESE = [_chinese(number) for number in range(101, 137)]


def page(title, body, head="", lang="en", classes="", charset="utf-8"):
    return (
        f'<!DOCTYPE html><html lang="{lang}"><head><meta charset="{charset}"><title>{escape(title)}</title>{head}</head>'
        f'<body class="{classes}">{body}</body></html>'
    )


@dataclass(frozen=True)
class Request:
    path: str
    query: dict
    body: dict
    raw: str


class Site(ABC):
    """A site of a shape that a subclass has."""

    articles = ENGLISH
    word = "flood"
    encoding = "utf-8"
    per_page = 10

    def found(self, words):
        return [one for one in self.articles if words and words.lower() in one.title.lower()]

    def article(self, number):
        return next((one for one in self.articles if str(one.number) == str(number)), None)

    @abstractmethod
    def respond(self, request):
        """Returns the answer to a request."""

    def shown(self, url):
        return None


class Visitor:
    """Asks a made-up site, and counts."""

    def __init__(self, site):
        self.site, self.asked, self.rendered = site, [], []

    async def ask(self, url, why, *, body="", content_type=""):
        self.asked.append((url, why, body))
        parts = urlsplit(url)
        if f"{parts.scheme}://{parts.netloc}" != ORIGIN:
            raise UnavailableError(f"{url} is elsewhere")
        encoding = self.site.encoding
        query = dict(parse_qsl(parts.query, encoding=encoding, keep_blank_values=True))
        fields = dict(parse_qsl(body, encoding=encoding, keep_blank_values=True))
        answer = self.site.respond(Request(unquote(parts.path, encoding=encoding), query, fields, url))
        text, status, kind = (
            (*answer, 200, "text/html")[:3] if isinstance(answer, tuple) else (answer, 200, "text/html")
        )
        if text is None:
            text, status = page("Not found", "<h1>Not found</h1>"), 404
        return Fetched(url, status, kind, text.encode(encoding, "xmlcharrefreplace"))

    async def render(self, page, why):
        """Returns a page as its scripts leave it; None where the site has none, as on a machine without a browser."""
        shown = self.site.shown(page.url)
        if shown is None:
            return None
        self.rendered.append(page.url)
        body, answers = shown
        return replace(page, body=body.encode(), rendered="quiet", loaded=LoadedJson.of(answers, 0))


class Blog(Site):
    """Articles with comments, sidebar, and a path for each page of results, as weblogs have."""

    def respond(self, request):
        parts = request.path.strip("/").split("/")
        if "s" in request.query:
            return self.search(request.query["s"], int(parts[1]) if parts[0] == "page" else 1)
        if parts[0] == "":
            return self.around("My weblog", self.listing(self.articles[:5]))
        one = self.article(parts[-1])
        return self.around(one.title, self.post(one)) if one else None

    def search(self, words, number):
        found = self.found(words)
        if not found:
            return self.around("Search", '<div class="no-results"><h1>Nothing here</h1><p>Try another word.</p></div>')
        shown = found[(number - 1) * 10 : number * 10]
        if not shown:
            return None
        more = f'<div class="nav-links"><a class="next page-numbers" href="/page/{number + 1}/?s={quote(words)}">Older posts</a></div>'
        return self.around("Search", f"<h1>Search: {escape(words)}</h1>{self.listing(shown)}{more}")

    def listing(self, shown):
        return "".join(
            f'<article class="post-{one.number} hentry category-{one.number % 4}"><h2 class="entry-title">'
            f'<a href="/2026/{one.number}">{one.title}</a></h2><div class="meta"><a class="url fn" '
            f'href="/author/{quote(one.author)}">{one.author}</a> <time>{one.date}</time></div>'
            f'<div class="excerpt">{one.paragraphs[0]} <a class="more" href="/2026/{one.number}">Read more</a></div></article>'
            for one in shown
        )

    def post(self, one):
        other = self.article(one.number + 1) or self.articles[0]
        comments = "".join(
            f'<li class="comment"><cite class="fn">{PEOPLE[(one.number + at) % 5]}</cite><time datetime="2026-10-0{at + 1}">'
            f"then</time><p>I live there, number {one.number * 13 + at}, and saw it all with my own eyes.</p></li>"
            for at in range(3)
        )
        return (
            f'<article class="post-{one.number}"><h1 class="entry-title">{one.title}</h1><p class="byline">By '
            f'<span class="author vcard">{one.author}</span> on <time class="entry-date" datetime="{one.date}:00Z">'
            f'{one.date}</time></p><div class="entry-content">{one.text}<img src="/img/{one.number}.jpg">'
            f'<div class="share">Share this on your favourite network</div></div></article>'
            f'<nav><a rel="next" href="/2026/{other.number}">{other.title}</a></nav><ol class="comments">{comments}</ol>'
        )

    def around(self, title, main):
        form = '<form role="search" class="search-form" action="/"><input type="search" name="s"><button>Search</button></form>'
        recent = "".join(f'<li><a href="/2026/{one.number}">{one.title}</a></li>' for one in self.articles[-4:])
        return page(
            title,
            f'<header><a href="/">My weblog</a></header><main>{main}</main><aside>{form}<ul class="recent">{recent}</ul>'
            f"</aside><footer>All rights reserved 2026</footer>",
        )


class Forum(Site):
    """Threads in a table with classless cells, offsets in the address, ids of sessions, posts of several people."""

    articles = CHINESE
    word = "洪水"

    def respond(self, request):
        match request.path:
            case "/":
                return self.around(
                    "论坛",
                    '<form action="/search.php"><input type="hidden" name="mod" value="forum">'
                    '<input type="hidden" name="formhash" value="a1b2"><input name="srchtxt"><select name="orderby">'
                    '<option value="dateline">发布时间</option><option value="score" selected>相关度</option></select>'
                    '<input type="submit" name="go" value="搜索"></form>',
                )
            case "/search.php" if request.query.get("mod") == "forum":
                return self.search(request.query.get("srchtxt", ""), int(request.query.get("start", 0)))
            case "/thread.php":
                one = self.article(request.query.get("tid"))
                return self.around(one.title, self.thread(one)) if one else None
        return None

    def search(self, words, start):
        found = self.found(words)
        if not found:
            return self.around("搜索", '<div class="box"><p class="alert">对不起，没有找到匹配结果。</p></div>')
        rows = "".join(
            f'<tr class="{"odd" if at % 2 else "even"}"><td>{at + 1}</td><td><a href="/thread.php?tid={one.number}">{one.title}</a></td>'
            f'<td><a href="/user.php?uid={one.number % 4}">{one.author}</a></td><td>{one.date}</td></tr>'
            for at, one in enumerate(found[start : start + 10])
        )
        pages = "".join(
            f'<a href="/search.php?mod=forum&srchtxt={quote(words)}&start={10 * at}">{at + 1}</a> '
            for at in range(len(found) // 10 + 1)
        )
        return self.around(
            "搜索",
            f'<div class="box"><table class="threads"><tr><th>#</th><th>主题</th><th>作者</th><th>时间</th></tr>{rows}</table>{pages}</div>',
        )

    def thread(self, one):
        posts = "".join(
            f'<div class="post"><div class="postinfo"><a class="username" href="/user.php?uid={at}">{name}</a> '
            f'<span class="postdate">发表于 {one.date}</span></div><div class="message"><p>{one.paragraphs[at]}</p></div></div>'
            for at, name in enumerate((one.author, *NAMES[:2]))
        )
        return f'<h1 class="subject">{one.title}</h1><div class="posts">{posts}</div>'

    def around(self, title, main):
        links = "".join(f'<td><a href="/forum.php?fid={at}">版块{at}</a></td>' for at in range(4))
        return page(
            title, f'<table class="menu"><tr>{links}</tr></table>{main}<p class="foot">北京时间</p>', lang="zh-CN"
        )


class News(Site):
    """Cards in a grid of rows, numbers of pages from 0, made-up class names, dates in a meta element."""

    def respond(self, request):
        if request.path == "/find":
            found = self.found(request.query.get("text", ""))
            at = int(request.query.get("p", 0))
            cards = [self.card(one) for one in found[at * 9 : at * 9 + 9]]
            rows = "".join(
                f'<div class="row css-1q2w3e">{"".join(cards[n : n + 3])}</div>' for n in range(0, len(cards), 3)
            )
            links = "".join(
                f'<li><a href="/find?text={quote(request.query["text"])}&p={n}">{n + 1}</a></li>'
                for n in range(4)
                if n != at
            )
            empty = '<section class="search-empty css-9x8y7z">We found nothing.</section>'
            return self.around("Find", f'{rows}<ul class="pager">{links}</ul>' if rows else empty)
        if request.path == "/":
            return self.around("Daily News", "<h1>Welcome</h1>")
        one = self.article(request.path.removeprefix("/news/").removesuffix(".html"))
        if not one:
            return None
        head = (
            f'<meta property="og:title" content="{one.title}"><meta name="author" content="{one.author}">'
            f'<meta property="article:published_time" content="{one.date.replace(" ", "T")}:00+02:00">'
        )
        body = (
            f'<div class="headline css-aa11bb"><h1>{one.title}</h1></div><div class="story css-77ff00">{one.text}</div>'
        )
        return self.around(one.title, body, head)

    def card(self, one):
        return (
            f'<div class="col"><a class="card css-0a9b8c" href="/news/{one.number}.html"><img src="/t/{one.number}.jpg" alt="">'
            f'</a><div class="card-body"><h3 class="card-title"><a href="/news/{one.number}.html">{one.title}</a></h3>'
            f'<p><a href="/topic/{one.number % 3}">Topic {one.number % 3}</a></p></div></div>'
        )

    def around(self, title, main, head=""):
        form = '<form action="/find" method="get"><label for="t">Search</label><input id="t" name="text"></form>'
        return page(title, f'<nav><a href="/">Home</a><a href="/sport">Sport</a>{form}</nav><main>{main}</main>', head)


class Definitions(Site):
    """Results as a definition list without classes, pages by link alone, no author."""

    def respond(self, request):
        if request.path == "/cgi/search":
            found = self.found(request.query.get("query", ""))
            cursor = int(request.query.get("after", "c0").removeprefix("c"))
            rows = "".join(
                f'<dt><a href="/doc/{one.number}">{one.title}</a></dt><dd>{one.paragraphs[0]}</dd>'
                for one in found[cursor : cursor + 10]
            )
            more = f'<p><a href="/cgi/search?query={quote(request.query["query"])}&after=c{cursor + 10}">Next</a></p>'
            return page(
                "Search",
                f"<h2>Documents</h2><dl>{rows}</dl>{more}"
                if found
                else "<h2>Documents</h2><p>No document matches.</p>",
            )
        if request.path == "/":
            return page("Documents", '<h1>Documents</h1><form action="cgi/search"><input name="query"></form>')
        one = self.article(request.path.removeprefix("/doc/"))
        return (
            page(one.title, f"<h1>{one.title}</h1><p>Last change: {one.date}</p><div>{one.text}</div>") if one else None
        )


class Posting(Site):
    """A search by POST, whose page of results has links to the next ones."""

    def respond(self, request):
        if request.path == "/":
            return page(
                "Archive",
                '<form action="/login" method="post"><input name="user"><input type="password" name="pw"></form>'
                '<form action="/search" method="post"><input type="hidden" name="scope" value="all">'
                '<input type="hidden" name="csrf_token" value="r4nd0m"><input type="text" name="keywords">'
                "<button>Search the archive</button></form>",
            )
        if request.path == "/search" and (request.body.get("scope") == "all" or request.query.get("id")):
            words = request.body.get("keywords", "flood")
            at = int(request.query.get("part", 1))
            found = self.found(words)
            items = "".join(
                f'<li class="hit"><span class="n">{one.number}</span><a class="doc" href="/archive/{one.number}/view">{one.title}</a>'
                f"<em>{one.author}</em></li>"
                for one in found[(at - 1) * 10 : at * 10]
            )
            more = f'<a class="next" href="/search?id=77&part={at + 1}">more</a>'
            return page(
                "Results", f'<ul id="hits">{items}</ul>{more}' if found else '<p id="nohits">Sorry, no hits</p>'
            )
        one = self.article(request.path.split("/")[2]) if request.path.startswith("/archive/") else None
        if not one:
            return None
        return page(
            one.title,
            f'<div id="doc"><h2 class="doc-title">{one.title}</h2><p class="who">Written by <em>{one.author}</em>, <i>{one.date}</i></p>'
            f'<div class="doc-text">{one.text}</div></div><div id="legal">Use as you like, at your own risk.</div>',
        )


class Gbk(Site):
    """A Chinese site in GBK, whose search says nothing by its name."""

    articles = CHINESE
    word = "洪水"
    encoding = "gbk"

    def respond(self, request):
        if request.path == "/s.asp":
            found = self.found(request.query.get("wd", ""))
            at = int(request.query.get("pn", 1))
            word = quote(request.query.get("wd", ""), encoding="gbk")
            items = "".join(
                f'<div class="jieguo"><h3><a href="/a/{one.number}.htm" target=_blank>{one.title}</a></h3><span>{one.date}</span></div>'
                for one in found[(at - 1) * 10 : at * 10]
            )
            pages = "".join(f'<a href="/s.asp?wd={word}&pn={n}">{n}</a>' for n in range(1, 4) if n != at)
            body = f'{items}<div class="fenye">{pages}<a href="/s.asp?wd={word}&pn={at + 1}">下一页</a></div>'
            return self.around("搜索", body if items else '<p class="tishi">没有找到相关的内容</p>')
        if request.path == "/":
            return self.around("新闻网", "<h2>欢迎</h2>")
        one = self.article(request.path.removeprefix("/a/").removesuffix(".htm"))
        if not one:
            return None
        return self.around(
            one.title,
            f'<h1 id="biaoti">{one.title}</h1><div class="xinxi">来源：本站 <span class="shijian">{one.date}</span></div>'
            f'<div id="neirong">{one.text}</div><div class="zeren">责任编辑：小张</div>',
        )

    def around(self, title, main):
        form = '<form name="f" action="/s.asp"><input type="text" name="wd" size=20><input type="submit" value="搜 索"></form>'
        return page(
            title,
            f'<div id="top">{form}<a href="/guonei/">国内</a><a href="/guoji/">国际</a></div>{main}',
            lang="zh",
            charset="gbk",
        )


class Nested(Site):
    """A page of old: tables in tables, no class anywhere, results told by their column alone."""

    def respond(self, request):
        if request.path == "/search.html":
            found = self.found(request.query.get("term", ""))
            rows = "".join(
                f'<tr><td>{one.date[:10]}</td><td><a href="/r/{one.number}">{one.title}</a></td><td><a href="/by/{one.author[:3]}">{one.author}</a></td></tr>'
                for one in found[:30]
            )
            return self.around(
                "Search", f"<table>{rows}</table>" if found else "<b>Your search did not match anything.</b>"
            )
        if request.path == "/":
            return self.around("Home", "<b>Welcome to the archive of our town</b>")
        one = self.article(request.path.removeprefix("/r/"))
        if not one:
            return None
        return self.around(
            one.title, f"<h2>{one.title}</h2><font size=1>{one.date}</font><table><tr><td>{one.text}</td></tr></table>"
        )

    def around(self, title, main):
        menu = '<td width=100><a href="/">Home</a><br><a href="/links">Links</a><form action="/search.html"><input name="term"></form></td>'
        return page(title, f"<table><tr>{menu}<td>{main}</td></tr></table>")


class Wiki(Site):
    """Pages with sections and edit links, a date in a sentence at the end, results with the words in their address."""

    def respond(self, request):
        if request.query.get("do") == "search":
            found = self.found(request.query.get("q", ""))
            items = "".join(
                f'<dt><a class="wikilink" href="/wiki.php?id=p{one.number}&hl={quote(request.query["q"])}">{one.title}</a>: 3 hits</dt><dd>{one.paragraphs[0]}</dd>'
                for one in found[:25]
            )
            return self.around(
                "Search",
                f'<dl class="search_results">{items}</dl>'
                if found
                else '<div class="nothing">Nothing was found.</div>',
                "mode_search",
            )
        one = self.article(request.query.get("id", "start").removeprefix("p"))
        if one is None:
            return self.around("start", "<h1>Start</h1><p>A wiki.</p>", "mode_show") if request.path == "/" else None
        body = f'<h1 class="sectionedit1">{one.title}</h1><div class="toc">Table of contents</div>' + "".join(
            f'<h2>Part {at}</h2><div class="level2"><p>{text}</p></div>' for at, text in enumerate(one.paragraphs)
        )
        info = f'<div class="docInfo">p{one.number}.txt · Last modified: {one.date.replace("-", "/")} by <bdi>{one.author}</bdi></div>'
        return self.around(one.title, f'<div class="page">{body}</div>{info}', "mode_show")

    def around(self, title, main, mode):
        form = '<form action="/wiki.php" method="get" role="search"><input type="hidden" name="do" value="search"><input name="q" title="[F]"></form>'
        return page(
            title,
            f'<div id="site" class="{mode}"><div id="head">{form}</div><div id="content">{main}</div><ul id="tools"><li><a href="/wiki.php?do=recent">Recent</a></li></ul></div>',
        )


class Declared(Site):
    """No form anywhere: an OpenSearch description says how it is searched."""

    def respond(self, request):
        link = '<link rel="search" type="application/opensearchdescription+xml" href="/os.xml">'
        if request.path == "/os.xml":
            return (
                (
                    '<?xml version="1.0"?><OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">'
                    '<Url type="application/json" template="https://site.test/sug?x={searchTerms}"/><Url type="text/html" '
                    f'template="{ORIGIN}/lookup?for={{searchTerms}}&amp;n={{count?}}&amp;pg={{startPage?}}&amp;in={{inputEncoding?}}"/>'
                    "</OpenSearchDescription>"
                ),
                200,
                "application/opensearchdescription+xml",
            )
        if request.path == "/lookup":
            found = self.found(request.query.get("for", ""))
            at = int(request.query.get("pg", 1)) - 1
            items = "".join(
                f'<p class="r"><a href="/p/{one.number}">{one.title}</a></p>' for one in found[at * 20 : at * 20 + 20]
            )
            return page("Lookup", items or "<em>Not one page</em>", link)
        if request.path == "/":
            return page("Home", "<h1>Home</h1>", link)
        one = self.article(request.path.removeprefix("/p/"))
        return (
            page(
                one.title,
                f"<h1>{one.title}</h1><address>{one.author}</address><time>{one.date}</time><article>{one.text}</article>",
                link,
            )
            if one
            else None
        )


class Linked(Site):
    """The form stands on a page of its own; the words are part of the path."""

    def respond(self, request):
        parts = request.path.strip("/").split("/")
        if parts[0] == "search" and len(parts) > 1:
            found = self.found(parts[1])
            at = int(parts[2]) if len(parts) > 2 else 1
            items = "".join(
                f'<li><h4><a href="/post/{one.number}">{one.title}</a></h4></li>'
                for one in found[(at - 1) * 10 : at * 10]
            )
            pages = "".join(f'<a href="/search/{quote(parts[1])}/{n}">{n}</a>' for n in (1, 2, 3))
            return page(
                "Results", f'<ul class="found">{items}</ul><div>{pages}</div>' if found else '<p class="none">None</p>'
            )
        if parts[0] == "":
            return page("Home", '<h1>Home</h1><a href="/about">About</a>')
        one = self.article(parts[-1])
        return (
            page(
                one.title,
                f'<h1>{one.title}</h1><p class="info">by {one.author} on {one.date}</p><section>{one.text}</section>',
            )
            if one
            else None
        )


class Tracker(Site):
    """Relative dates whose exact ones are shown by the mouse, in the American way; names of pages in the results."""

    def respond(self, request):
        if request.path == "/query":
            found = self.found(request.query.get("q", ""))
            at = int(request.query.get("page", 1))
            items = "".join(
                f'<dt><a href="/ticket/{one.number}" class="hit">#{one.number}</a></dt><dd>{one.paragraphs[0]}</dd>'
                for one in found[at * 10 - 10 : at * 10]
            )
            pages = "".join(
                f'<a href="/query?q={quote(request.query["q"])}&noquick=1&page={n}">{n}</a>' for n in (2, 3, 4)
            )
            return self.around(
                "Query", f'<dl>{items}</dl><div class="paging">{pages}</div>' if found else "<p>No tickets</p>"
            )
        if request.path == "/":
            return self.around("Tickets", "<h2>Tickets</h2>")
        one = self.article(request.path.removeprefix("/ticket/"))
        if not one:
            return None
        month, day = one.date[5:7], one.date[8:10]
        shown = f"See them at {month}/{day}/26 {one.date[11:]}:00"
        return self.around(
            one.title,
            f'<div class="opened">Opened <a class="when" href="/timeline" title="{shown}">2 months ago</a></div>'
            f'<h1 class="summary">{one.title}</h1><table class="about"><tr><td><a class="who-author">{one.author}</a></td></tr></table>'
            f'<div class="ad">{"Buy our umbrellas, they are better than all the others. " * 3}</div><div class="text">{one.text}</div>',
        )

    def around(self, title, main):
        form = '<form action="/query"><input name="q"><input type="submit" value="Search"></form>'
        return page(title, f'<h1 class="logo">Town tracker</h1>{form}{main}')


class Scripted(Site):
    """A search whose results a script fetches."""

    def respond(self, request):
        app = '<form action="/search"><input type="search" name="q"></form><div id="app"></div><script src="/app.js"></script>'
        return page("App", app) if request.path in ("/", "/search") else None


class Api(Site):
    """A search that answers in JSON."""

    def respond(self, request):
        if request.path == "/api":
            return ('{"items": []}', 200, "application/json")
        return page("App", '<form action="/api"><input type="search" name="q"></form>') if request.path == "/" else None


class Fed(Api):
    """A search that answers in JSON, and a feed."""

    feed = "<rss><channel>" + "".join(
        f"<item><title>{a.title}</title><link>/a/{a.number}</link></item>" for a in ENGLISH
    )

    def respond(self, request):
        if request.path == "/feed":
            return self.feed, 200, "application/rss+xml"
        if request.path.startswith("/a/") and (one := self.article(request.path.removeprefix("/a/"))):
            return page(one.title, f"<article><h1>{one.title}</h1>{one.text}</article>")
        found = super().respond(request)
        link = '<link rel="alternate" type="application/rss+xml" href="/feed"></head>'
        return found.replace("</head>", link) if request.path == "/" else found


class Mapped(Fed):
    """A broken feed, and sitemaps that robots.txt names, in an index."""

    feed = "<html>Moved</html>"

    def respond(self, request):
        match request.path:
            case "/robots.txt":
                return f"Sitemap: https://elsewhere.test/a.xml\nsitemap: {ORIGIN}/maps/all.xml", 200, "text/plain"
            case "/maps/all.xml":
                return "<sitemapindex><sitemap><loc>/maps/1.xml</loc></sitemap></sitemapindex>"
            case "/maps/1.xml":
                return "<urlset>" + "".join(f"<url><loc>/a/{one.number}</loc></url>" for one in ENGLISH) + "</urlset>"
        return super().respond(request)


class Listed(Site):
    """No search and no feed, but lists of its articles, whose pages have numbers."""

    further = '<a href="?page={number}">{number}</a>'

    def respond(self, request):
        if request.path == "/":
            at = int(request.query.get("page", 1))
            rows = "".join(
                f'<li class=topic><h3><a href="/a/{one.number}">{one.title}</a></h3><span>{one.author}</span> '
                f'<a href="/a/{one.number}#last">{one.date}</a></li>'
                for one in self.articles[(at - 1) * 10 : at * 10]
            )
            more = "".join(self.further.format(number=number) for number in (at + 1, at + 2))
            return page("Talk", f"<ul>{rows}</ul><p>{more}</p>") if rows else None
        one = self.article(request.path.removeprefix("/a/"))
        return page(one.title, f"<h1>{one.title}</h1><div class=said>{one.text}</div>") if one else None


class Continued(Listed):
    """Lists that say only where they go on."""

    further = '<a class=next href="?after=c{number}">more</a>'


class NotFound(Declared):
    """Its page without results is an error 404."""

    def respond(self, request):
        if request.path == "/lookup" and not self.found(request.query.get("for", "")):
            return None
        return super().respond(request)


class Hostile(Blog):
    """Names and texts that would be YAML, terminal escapes or placeholders, if anybody trusted them."""

    def search(self, words, number):
        found = self.found(words)[(number - 1) * 10 : number * 10]
        more = f'<a rel="next" href="/x?s={quote(words)}&from={number + 1}\x1b[31m">Next</a>'
        return self.around("Search", self.listing(found) + more if found else "<p class=no-hits>name: owned</p>")

    def around(self, title, main):
        evil = (
            '<form action="/{base}/"><input type="search" name="s"><input type="hidden" name="x: [1" value="&#10;name: owned'
            '&#10;- {query} \x1b[31m"><input type="hidden" name="y" value="{page}"></form>'
        )
        return re.sub(r"<form.*?</form>", lambda _: evil, super().around(title, main))


class Issues(Site):
    """Tables without classes; the next page begins with the number that a page's size is, too; the last page never ends."""

    def respond(self, request):
        if request.path == "/issue":
            found = self.found(request.query.get("text", ""))
            start = min(int(request.query.get(":startwith", 0)), max(len(found) - 1, 0))
            rows = "".join(
                f'<tr><td>{at}<td><a href="issue{one.number}">{one.title}</a><td>{one.date[:10]}</tr>'
                for at, one in enumerate(found[start : start + 10], start)
            )
            more = (
                f'<a href="issue?:startwith={start + 10}&:pagesize=10&text={request.query["text"]}">next &gt;&gt;</a>'
            )
            return self.around(
                "Issues", f"<table class=list><tr><th>ID<th>Title<th>Day</tr>{rows}</table><p>{more}</p>"
            )
        if request.path == "/":
            return self.around("Issues", "<h2>All issues</h2>")
        one = self.article(request.path.removeprefix("/issue"))
        if not one:
            return None
        details = f"<table class=form><tr><th>Title<td>{one.title}<tr><th>Priority<td>bug<th>Status<td>open</table>"
        message = f"<table class=messages><tr><td class=text>{one.text}</table>"
        created = f"<p>Created on <b>{one.date}</b></p>"
        return self.around(f"Issue {one.number}: {one.title} - Issues", f"{details}{created}{message}")

    def around(self, title, main):
        form = "<form action=issue><input name=text size=10><input type=submit value=Search></form>"
        return page(title, f"<div id=top><h2>Issue tracker</h2>{form}</div><main>{main}</main>")


class Anything(Blog):
    """Finds something for any word."""

    def found(self, words):
        return super().found(words) or self.articles[20:30]
