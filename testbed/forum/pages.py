"""The HTML board's pages: what a crawl should keep, among menus, advertisements, scripts and hidden text."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from testbed.forum.content import Thread, expected_results, image_path, video_path

if TYPE_CHECKING:
    from collections.abc import Sequence

PARAGRAPHS_PER_POST = 3
LATEST_SHOWN = 10
SNIPPET_CHARACTERS = 60
_MENU = '<nav class="menu"><a href="/">首页</a> <a href="/search">Search</a> <a href="/ajax/">AJAX</a></nav>'
_SIDEBAR = '<aside class="sidebar"><h3>热门主题</h3><ul><li>登录 Log in</li><li>注册 Sign up</li></ul></aside>'
_FOOTER = '<footer class="footer">Demo forum. 所有时间均为北京时间 Beijing time (UTC+8).</footer>'
_STYLE = "<style>.menu a { color: #06c } .ad { border: 1px solid }</style>"
_SCRIPT = '<script>window.visits = (window.visits || 0) + 1; document.title += "";</script>'
_AD = '<div class="ad">广告 Advertisement: umbrellas, half price today</div>'
_HIDDEN = '<p hidden>Hidden: report this post</p><p style="display:none">隐藏内容</p>'


def index() -> str:
    """Returns the front page: the latest threads and a few searches."""
    latest = "".join(_result(thread) for thread in expected_results("")[:LATEST_SHOWN])
    return _layout("Demo forum", f'<h1>Demo forum</h1>{_search_form("")}<ol class="results">{latest}</ol>', "zh")


def search(query: str, found: Sequence[Thread], total: int, next_url: str, *, action: str, charset: str) -> str:
    """Returns a page of search results.

    Args:
        query: What was searched for.
        found: The threads on this page; without any it says that there are no results.
        total: How many threads there are on all pages.
        next_url: The following page; empty on the last one.
        action: The search's path.
        charset: For the page's <meta>.
    """
    parts = [f"<h1>搜索 Search: {escape(query)}</h1>", _search_form(query, action)]
    if found:
        parts.append(f'<p class="total">{total}</p>')
        parts.append(f'<ol class="results" start="1">{"".join(_result(thread) for thread in found)}</ol>')
    else:
        parts.append('<p class="no-results">没有找到相关主题 Nothing found</p>')
    if next_url:
        parts.append(f'<a class="next" rel="next" href="{escape(next_url)}">下一页</a>')
    return _layout(f"{query} - Demo forum", "".join(parts), "zh", charset)


def thread_page(thread: Thread, page: int, origin: str, charset: str = "utf-8") -> str:
    """Returns a page of a thread.

    Args:
        thread: The thread.
        page: Which of its pages, from 1.
        origin: The forum's scheme and host as the client named them, for absolute links.
        charset: For the page's <meta>; empty: the page has none.
    """
    last = len(thread.pages)
    meta = f'<span class="author">{escape(thread.author)}</span> <time class="published">{published(thread)}</time>'
    parts = [f'<h1 class="title">{escape(thread.title)}</h1><div class="meta">{meta}</div>']
    parts.append('<div class="posts">')
    paragraphs = thread.pages[page - 1]
    for start in range(0, len(paragraphs), PARAGRAPHS_PER_POST):
        body = body_html(thread, paragraphs[start : start + PARAGRAPHS_PER_POST])
        parts.append(f'<article class="post"><div class="post-body">{body}</div></article>{_AD}')
    parts += (f'<img class="photo" src="{escape(url)}" alt="">' for url in image_urls(thread, page, origin))
    if thread.video is not None and page == 1:
        parts.append(f'<video controls><source src="{video_path(thread.video)}" type="video/mp4"></video>')
    parts.append("</div>")
    if page < last:
        parts.append(f'<a class="next" rel="next" href="{thread.path}?page={page + 1}">下一页</a>')
    return _layout(f"{thread.title} - Demo forum", "".join(parts), thread.language, charset)


def message(title: str, text: str) -> str:
    """Returns a page with nothing but a message, such as an error."""
    return _layout(title, f"<h1>{escape(title)}</h1><p>{escape(text)}</p>", "en")


def body_html(thread: Thread, paragraphs: Sequence[str]) -> str:
    """Returns paragraphs as both boards mark them up: with the events in bold, and a script and hidden text between."""
    marked = []
    for paragraph in paragraphs:
        html = escape(paragraph)
        for event in thread.events:
            html = html.replace(event, f"<b>{event}</b>", 1)
        marked.append(f"<p>{html}</p>")
    return f"{marked[0]}{_SCRIPT}{_HIDDEN}{''.join(marked[1:])}"


def image_urls(thread: Thread, page: int, origin: str) -> list[str]:
    """Returns the links to a page's images: those with odd ids absolute, the others relative to the host."""
    return [(origin if image % 2 else "") + image_path(image) for image in thread.images_on(page)]


def published(thread: Thread) -> str:
    """Returns the thread's time in one of the three ways that real forums mix."""
    when = thread.published
    if thread.id % 3 == 0:
        return when.isoformat()
    if thread.id % 3 == 1:
        return f"{when:%Y-%m-%d %H:%M}"
    return f"{when.year}年{when.month}月{when.day}日 {when:%H:%M}"


def _result(thread: Thread) -> str:
    # As on real sites, some links say where the visitor came from; without that they lead to the same page.
    link = thread.path + ("?utm_source=results#top" if thread.id % 3 == 0 else "")
    snippet = escape(thread.paragraphs[0][:SNIPPET_CHARACTERS])
    return (
        f'<li class="result"><a class="title" href="{escape(link)}">{escape(thread.title)}</a>'
        f' <span class="author">{escape(thread.author)}</span><p class="snippet">{snippet}</p></li>'
    )


def _search_form(query: str, action: str = "/search") -> str:
    return f'<form action="{action}"><input name="q" value="{escape(query)}"><button>搜索</button></form>'


def _layout(title: str, main: str, language: str, charset: str = "utf-8") -> str:
    meta = f'<meta charset="{charset}">' if charset else ""
    return (
        f'<!DOCTYPE html><html lang="{language}"><head>{meta}<title>{escape(title)}</title>{_STYLE}</head>'
        f"<body>{_MENU}{_SIDEBAR}<main>{main}</main>{_FOOTER}{_SCRIPT}</body></html>"
    )
