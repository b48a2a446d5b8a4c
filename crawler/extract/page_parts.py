"""Which parts a page without a site's selectors has: its heading, the frame around it, comments, and its own text.

Sites name these parts for their style sheets, and most use the same words for them.
"""

from __future__ import annotations

import re
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from turbohtml import Element

from crawler import text
from crawler.extract.html_text import HtmlText

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import turbohtml

MAX_HEADINGS = 100  # of a level, that are looked at for the title
MAX_CANDIDATES = 200  # elements that are looked at for one thing
MAX_SIBLINGS = 50  # that are compared with a post
SMALL_CHARACTERS = 300  # of a part that only accompanies a text, such as the buttons below it
LINKS_SHARE = 0.7  # of the letters of a list of links
MIN_TEXT_CHARACTERS = 2
MAX_BEFORE = 2  # parts right before a text that may say whose it is, and of when
LIKE_POSTS = 2  # posts in a row make a thread


def _names(words: str) -> re.Pattern[str]:
    """Returns what finds one of some words among the classes and the id of an element.

    One that says that something is beside it, such as `has-sidebar`, isn't that.
    """
    return re.compile(rf"(?<![a-z])(?<!has-)(?<!with-)(?:{'|'.join(words.split())})(?![a-z])")


_ASIDE = "nav, aside, dialog, [role=navigation], [role=complementary], [role=search], [role=dialog], [hidden]"
_FRAME = "footer, form, header, [role=banner], [role=contentinfo]"
_aside_names = _names(
    """ads? advert(?:isement)? breadcrumbs? commentlist commentaires comments? cookies? disqus menu most-read nav navbar
    navigation newsletter pager pagination popular promo recommend(?:ed|ations)? related(?:-posts)? replies respond
    share sharing sidebar sidebars social sponsored trackbacks trending widgets?"""
)
_around_text = _names(
    """a11y actions buttons byline catlinks docinfo editsection entry-footer entry-header entry-meta jump-link meta
    noprint post-meta post-terms posted-on printfooter screen-reader-text secedit signature skip sr-only tagcloud
    tags-links taxonomies taxonomy toc toolbar vcard visually-hidden"""
)
_logo_names = _names("brand branding logo masthead site-?name site-?title sitename")
_post_names = _names("comment message post reply topic-post")
# Where the text of an article stands, by the names that systems and style guides give it, most telling ones first.
_BODIES = (
    "[itemprop~=articleBody]",
    ".e-content",
    ".entry-content",
    ".wp-block-post-content",
    ".mw-parser-output",
    ".post-content, .post__content, .post-body, .postbody .content, .post_body",
    ".article-content, .article-body, .article__body, .article-text, .article__content, .articleBody",
    ".story-body, .news-body, .news-content, .content-body, .body-content",
    ".message-body, .message-content, .messageContent, .bbWrapper, .cooked, .email-body, .t_f",
    ".field--name-body, .field-name-body, .node__content",
    "[class*=postbody i], [class*=postcontent i], [class*=messagebody i], [class*=messagecontent i]",
    "[class*=ticket i] .description, [class*=issue i] .description, [class*=bug i] .description",
    ".markdown-body, .wiki-content, .wikipage, #wikipage, .page.group, [itemprop=text]",
)
_REGIONS = ("main article", "article", "main", "[role=main]", "#content", "#main")


class PageParts:
    """The parts of one page.

    Args:
        tree: The page.
    """

    def __init__(self, tree: turbohtml.Document) -> None:
        self.tree = tree
        self._replies: frozenset[Any] = frozenset()  # the parts of a thread after its first post, once it is known

    @cached_property
    def headings(self) -> list[tuple[Element, str]]:
        """The headings that may be the title, each with its text: those of the site itself are left out.

        Those above all that differs from page to page come last.
        """
        found = []
        for level in ("h1", "h2", "h3"):
            for heading in self.tree.select(level)[:MAX_HEADINGS]:
                words = text.line(HtmlText().of(heading))
                if words and not any(map(_is_of_site, _lineage(heading))):
                    found.append((heading, words))
        return sorted(found, key=lambda one: any(map(_is_page_header, _lineage(one[0]))))

    @cached_property
    def asides(self) -> frozenset[Any]:
        """What isn't part of the article at all: navigation, comments, other articles. None of it holds a title."""
        holds_title = {parent for heading, _ in self.headings if heading.tag == "h1" for parent in _lineage(heading)}
        found = set(self.tree.select(_ASIDE))
        found |= {element for element in self._named if _aside_names.search(_names_of(element))}
        return frozenset(one for one in found - holds_title if one.tag not in ("html", "body", "main"))

    @cached_property
    def _named(self) -> Sequence[Element]:
        return self.tree.select("[class], [id]")

    def outside_asides(self, css: str) -> Iterator[Element]:
        """Yields the elements that a selector finds and that belong to the article."""
        for element in self.tree.select(css)[:MAX_CANDIDATES]:
            if not self.is_aside(element):
                yield element

    def is_aside(self, element: Element) -> bool:
        """Returns whether an element is within something that isn't part of the article."""
        return any(one in self.asides or one in self._replies for one in _lineage(element))

    @cached_property
    def body(self) -> Element | None:
        """The element with the article's own text; None if nothing names it.

        Of several, one that isn't wholly above the title: menus there may have such names as well.
        """
        for above in (False, True):
            for css in _BODIES:
                if found := self._with_text(css, above=above):
                    self._replies = _others(found)
                    return found[0]
            for css in _REGIONS:
                if found := self._with_text(css, above=above):
                    return self.first_post(found[0])
        return None

    def _with_text(self, css: str, *, above: bool) -> list[Element]:
        """Returns the elements that a selector finds and that have a text, those that end above the title if asked."""
        found = [one for one in self.outside_asides(css) if len(one.text.strip()) >= MIN_TEXT_CHARACTERS]
        title = next((heading for heading, _words in self.headings if heading.tag == "h1"), None)
        if title is None or not found:
            return [] if above else found
        in_order = self.tree.select(f"h1, {css}")
        until_title = frozenset(in_order[: in_order.index(title)])
        around_title = frozenset(_lineage(title))
        return [one for one in found if (one in until_title and one not in around_title) == above]

    def before(self, body: Element) -> Iterator[Element]:
        """Yields what stands right before the article's own text, nearest first."""
        before = (one for one in body.previous_siblings if isinstance(one, Element) and not self.is_aside(one))
        return islice(before, MAX_BEFORE)

    def text_of(
        self, body: Element, title: Element | None, besides: frozenset[Any] = frozenset()
    ) -> tuple[str, frozenset[Any]]:
        """Returns the text of an element without what only accompanies it, and what was left out.

        Args:
            body: The element.
            title: The heading that is the title; None if it is no heading.
            besides: Elements that are no part of it, such as those that other pages have, too.
        """
        left_out = {one for one in (*self.asides, *besides) if one is not body}
        left_out |= {one for one in body.select(_FRAME) if one is not body}
        left_out |= {title} if title is not None else set()
        for element in body.select("[class], [id]"):
            if _around_text.search(_names_of(element)) and len(element.text) < SMALL_CHARACTERS:
                left_out.add(element)
        for element in body.select("ul, ol, div, section"):
            links = element.select("a")
            if links and sum(len(link.text) for link in links) > LINKS_SHARE * len(element.text.strip()):
                left_out.add(element)
        skip = frozenset(left_out)
        return HtmlText(marked=True).of(body, skip), skip

    def first_post(self, region: Element) -> Element:
        """Returns the first of several posts in a region, or the region where there are none."""
        for element in region.select("[class]"):
            if not _post_names.search(_names_of(element)) or self.is_aside(element):
                continue
            kind = _kind(element)
            if sum(_kind(one) == kind for one in (element, *islice(element.next_siblings, MAX_SIBLINGS))) >= LIKE_POSTS:
                body = element.select_one("[class*=body], [class*=content], [class*=text], [class*=message]")
                return element if body is None else body
        return region


def _others(found: Sequence[Element]) -> frozenset[Any]:
    """Returns the parts of a page that hold the texts after the first one, and nothing of that one."""
    first = frozenset(_lineage(found[0]))
    return frozenset(_last_before(_lineage(one), first) for one in found[1:] if one not in first)


def _last_before(lineage: Iterator[Element], end: frozenset[Any]) -> Element:
    """Returns the last of an element and those around it that isn't around another one."""
    last = next(lineage)
    for one in lineage:
        if one in end:
            break
        last = one
    return last


def class_names(element: Element) -> str:
    """Returns the classes and the id of an element, in small letters."""
    return _names_of(element)


def _names_of(element: Element) -> str:
    classes = element.attr("class") or ""
    return f"{classes if isinstance(classes, str) else ' '.join(classes)} {element.attr('id') or ''}".lower()


def _kind(node: Any) -> tuple[str, str] | None:
    return (node.tag, _names_of(node).split(" ", 1)[0]) if isinstance(node, Element) else None


def _lineage(element: Element) -> Iterator[Element]:
    """Yields an element and all that it is in."""
    yield element
    for parent in element.ancestors:
        if isinstance(parent, Element):
            yield parent


def _is_page_header(element: Element) -> bool:
    """Returns whether an element is what a page begins with on each page of a site."""
    parent = element.parent
    if not isinstance(parent, Element) or parent.tag != "body":
        return False
    return element.tag == "header" or not {"header", "banner"}.isdisjoint(_names_of(element).split())


def _is_of_site(element: Element) -> bool:
    return element.tag in ("nav", "aside") or _logo_names.search(_names_of(element)) is not None
