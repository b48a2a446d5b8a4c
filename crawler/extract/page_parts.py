"""Which parts a page without a site's selectors has: its heading, the frame around it, comments, and its own text.

Sites name these parts for their style sheets, and most use the same words for them.
"""

from __future__ import annotations

import re
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from turbohtml import Element

from crawler.base import text
from crawler.extract.html_text import HtmlText
from crawler.extract.lines import line_of
from crawler.extract.page_templates import lineage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import turbohtml

MAX_HEADINGS = 100  # of a level, that are looked at for the title
MAX_CANDIDATES = 200  # elements that are looked at for one thing
MAX_SIBLINGS = 50  # that are compared with a post
SMALL_CHARACTERS = 300  # of a part that only accompanies a text, such as the buttons below it
MIN_TEXT_CHARACTERS = 2
MAX_WITHIN = 3  # boxes within each other that are named for a text
MAX_BEFORE = 2  # parts right before a text that may say whose it is, and of when
LIKE_POSTS = 2  # posts in a row make a thread
MIN_LINE_CHARACTERS = 100  # of a line that is a text, even if it doesn't end as a sentence
MIN_SENTENCE = 30  # characters of a text that stands in a box beside another one


def naming(words: str) -> re.Pattern[str]:
    """Returns what finds one of some words among the classes and the id of an element.

    One that says that something is beside it, such as `has-sidebar`, isn't that.
    """
    return re.compile(rf"(?<![a-z])(?<!has-)(?<!with-)(?:{'|'.join(words.split())})(?![a-z])")


_ASIDE = """nav, aside, dialog, [role=navigation], [role=complementary], [role=search], [role=dialog],
    [role=alertdialog], [aria-modal=true], [hidden]"""
_COMMENT = '[itemtype$="/Comment" i], [itemtype$="/UserComments" i], [itemprop=comment]'
_aside_names = naming(
    """ads? advert(?:isement)? breadcrumbs? commentlist commentaires comments? consent cookies? disqus gdpr lightbox
    menu modal most-read nav navbar navigation newsletter pager pagination popular popup promo recommend(?:ed|ations)?
    related(?:-posts)? replies respond share sharing sidebar sidebars social sponsored trackbacks trending widgets?
    comentarios commenti kommentare reacties"""
)
# Of the line that says who wrote an article, and links to what others say of it; a list of comments is larger.
_byline_with_comments = re.compile(
    r"(?<![a-z])(?:author|auteur|autore?|by-?line|firma)[-_]{1,2}"
    r"(?:comentarios|commentaires|commenti|comments|kommentare|reacties|replies)(?![a-z])"
)
_list_names = naming("answers responses")  # of what answers a text, where each answer has such a name, too
_LISTED = "[class*=answer i], [class*=response i]"
# Of one comment; a list of them, a form, a link or a number has other names.
_comment_names = re.compile(
    r"(?<![\w-])(?:[a-z]+-|[a-z_-]+__)?"
    r"comment(?:[-_]?(?:body|box|container|content|entry|item|message|text|wrapper)|[-_]?\d+)?(?![\w-])"
).search
# Of the part of a comment that says who wrote it, and when; of a block's element, as in `comment__info__username`.
_comment_head_name = re.compile(
    r"(?<![\w-])(?:[a-z]+-)?comment(?:__|--?|_)(?:author|by-?line|date|head|header|info|meta|time|user|username)"
    r"(?:__[\w-]+)?(?![\w-])"
)
_COMMENT_TAGS = frozenset("article blockquote dd div li section table td tr".split())
_COMMENT_BODIES = """[itemprop=text], .markdown-body, .markup, [class*=comment-body i], [class*=comment-content i],
    [class*=comment-text i], [class*=comment_body i], [class*=comment_content i], [class*=comment_text i],
    [class*=comment__body i], [class*=comment__content i], [class*=comment__text i],
    [class*=commentbody i], [class*=commentcontent i], [class*=commenttext i]"""
# Classes of style sheets for what nobody sees; where another one says so, wide screens show it.
_HIDING = frozenset("d-none hidden hide is-hidden js-hidden tw-hidden".split())
_is_shown_on_some = re.compile(r"(?<!\S)(?:\w+:|d-\w+-)(?:block|flex|grid|inline|table)").search
_ends_as_sentence = re.compile(r"\w.*[.!?\u2026\u3002\uff01\uff1f][\"')\u2019\u201d\u300d\uff09]*$").search
_teaser_names = naming("teaser")
_logo_names = naming("brand branding logo masthead site-?name site-?title sitename")
_post_names = naming("comment message post reply topic-post")
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
_ANY_BODY = ", ".join(_BODIES)
_TELLING = f"{_ANY_BODY}, audio, embed, h1, h2, h3, h4, h5, h6, iframe, img, object, picture, video"
_REGIONS = ("main article", "article", "main", "[role=main]", "#content", "#main")
_ANY_REGION = ", ".join(_REGIONS)


class PageParts:
    """The parts of one page.

    Args:
        tree: The page.
    """

    def __init__(self, tree: turbohtml.Document) -> None:
        self.tree = tree
        self._replies: frozenset[Any] = frozenset()  # the parts of a thread after its first post, once it is known
        self._known_asides: dict[Any, bool] = {}  # what is known so far: whether an element is an aside, or is in one
        self._has_said: dict[Any, bool] = {}  # likewise: whether a quote in a box has a text beside it there

    @cached_property
    def headings(self) -> list[tuple[Element, str]]:
        """The headings that may be the title, each with its text: those of the site itself are left out.

        Those above all that differs from page to page come last.
        """
        found = []
        for level in ("h1", "h2", "h3"):
            for heading in self.tree.select(level)[:MAX_HEADINGS]:
                words = line_of(heading)
                if words and not any(map(_is_of_site, lineage(heading))):
                    found.append((heading, words))
        return sorted(found, key=lambda one: any(map(_is_page_header, lineage(one[0]))))

    @cached_property
    def asides(self) -> frozenset[Any]:
        """What isn't part of the article at all: navigation, comments, other articles. None of it holds a title.

        A comment that is the text itself isn't among them.
        """
        text_box = self._comment_with_text
        return self._named_asides if text_box is None else self._named_asides - frozenset(lineage(text_box))

    @cached_property
    def _named_asides(self) -> frozenset[Any]:
        """What is marked up or named as an aside."""
        holds_title = {parent for heading, _ in self.headings if heading.tag == "h1" for parent in lineage(heading)}
        found = {*self.tree.select(_ASIDE), *self.tree.select(_COMMENT)}
        for element in self.tree.select("[class], [id]"):
            names = _without_byline(element)
            if _aside_names.search(names) or (_list_names.search(names) and element.select_one(_LISTED) is not None):
                found.add(element)
        return frozenset(one for one in found - holds_title if one.tag not in ("html", "body", "main"))

    @cached_property
    def _comment_with_text(self) -> Element | None:
        """Where the first comment has the text: trackers mark up the first post so. None where it only is a comment.

        It has the text if nothing is between it and the title but lines about it: no sentence, no picture, and no
        heading such as "Comments".
        """
        first = self._first_post
        box = first
        while box is not None and (inner := box.select_one(_COMMENT_BODIES)) is not None:
            box = inner
        return box

    @cached_property
    def _first_post(self) -> Element | None:
        """The first comment, if it has the text."""
        heading = next((heading for heading, _words in self.headings), None)
        first = next(filter(_is_comment, self.tree.select(f"[class*=comment i], [id*=comment i], {_COMMENT}")), None)
        return first if heading is not None and first is not None and self._is_right_below(heading, first) else None

    @cached_property
    def _head_of_post(self) -> frozenset[Any]:
        """The parts of the first comment, if that has the text, which say who wrote it and when."""
        if self._first_post is None or self._comment_with_text is self._first_post:
            return frozenset()
        named = self._first_post.select("[class]")[:MAX_CANDIDATES]
        others = {one for one in named if _is_comment(one)}  # which answer the post, and stand in it
        others -= {*lineage(self._comment_with_text)} if self._comment_with_text is not None else set()
        found: set[Any] = set()
        for element in named:
            around = [*lineage(element)]
            is_within = not found.isdisjoint(around)
            if others.isdisjoint(around) and _is_comment_head(element, any_name=is_within):
                found.add(element)
        return frozenset(found)

    def _is_right_below(self, heading: Element, comment: Element) -> bool:
        """Returns whether a comment stands below a heading, with nothing in between that is or has a text."""
        around = frozenset(lineage(comment))
        judged: set[Any] = set()
        for node in heading.following:
            if node is comment:
                return True
            if node in around:
                continue
            is_within = node.parent in judged
            judged.add(node)
            if is_within or node in self._named_asides or (isinstance(node, Element) and is_hiding(node)):
                continue
            if isinstance(node, Element) and (node.matches(_TELLING) or node.select_one(_TELLING) is not None):
                return False
            lines = text.paragraphs(HtmlText().of(node) if isinstance(node, Element) else node.text).split("\n")
            if any(len(line) >= MIN_LINE_CHARACTERS or _ends_as_sentence(line) for line in lines):
                return False
        return False

    def outside_asides(self, css: str) -> Iterator[Element]:
        """Yields the elements that a selector finds and that belong to the article."""
        for element in self.tree.select(css)[:MAX_CANDIDATES]:
            if not self.is_aside(element):
                yield element

    def is_aside(self, element: Element) -> bool:
        """Returns whether an element is within something that isn't part of the article."""
        if self._replies and not self._replies.isdisjoint(lineage(element)):
            return True
        found = False
        unknown = []
        for one in lineage(element):
            if one in self._known_asides:
                found = self._known_asides[one]
                break
            unknown.append(one)
            if one in self.asides and one not in self._head_of_post:
                found = True
                break
        self._known_asides.update(dict.fromkeys(unknown, found))
        return found

    def _is_quoted(self, element: Element) -> bool:
        """Returns whether an element is a quote, or in one: forums use `<blockquote>` for posts, which stand alone."""
        quote = element.closest("blockquote")
        box = None if quote is None else quote.parent
        if box is None:
            return False
        if box not in self._has_said:
            self._has_said[box] = any(map(_is_said, box))
        return self._has_said[box]

    @cached_property
    def body(self) -> Element | None:
        """The element with the article's own text; None if nothing names it.

        Of several, one that isn't wholly above the title: menus there may have such names as well.
        """
        if self._comment_with_text is not None:
            return self._comment_with_text
        for above in (False, True):
            for css in _BODIES:
                if found := self._with_text(css, above=above):
                    self._replies = _others(found)
                    return self._innermost(found[0])
            for css in _REGIONS:
                if found := self._with_text(css, above=above):
                    return self.first_post(found[0])
        return None

    @property
    def is_body_whole(self) -> bool:
        """Whether the body may hold all of an article, the line that says who wrote it included, rather than a text."""
        return self.body is not None and self.body.matches(_ANY_REGION) and not self.body.matches(_ANY_BODY)

    def _with_text(self, css: str, *, above: bool) -> list[Element]:
        """Returns the elements that a selector finds and that have a text, those that end above the title if asked.

        Above a title that the page's `<title>` has, too, there are none, and none is a quote or a teaser.
        """
        found = [one for one in self.outside_asides(css) if len(one.text.strip()) >= MIN_TEXT_CHARACTERS]
        found = [one for one in found if not self._is_quoted(one) and not _is_teaser(one)]
        title, words = next((one for one in self.headings if one[0].tag == "h1"), (None, ""))
        if title is None or not found:
            return [] if above else found
        if above and words in self._whole_title:
            return []
        in_order = self.tree.select(f"h1, {css}")
        until_title = frozenset(in_order[: in_order.index(title)])
        around_title = frozenset(lineage(title))
        return [one for one in found if (one in until_title and one not in around_title) == above]

    @cached_property
    def _whole_title(self) -> str:
        title = self.tree.select_one("title")
        return "" if title is None else text.line(title.text)

    def _innermost(self, body: Element) -> Element:
        """Returns the innermost element in another one that is named for a text, too, and has all of its sentences."""
        for _ in range(MAX_WITHIN):
            named = body.select(_ANY_BODY)[:MAX_CANDIDATES]
            inner = next((one for one in named if not self.is_aside(one) and not self._is_quoted(one)), None)
            if inner is None or len(inner.text.strip()) < MIN_TEXT_CHARACTERS or self._has_sentence(body, inner):
                break
            body = inner
        return body

    def _has_sentence(self, body: Element, inner: Element) -> bool:
        """Returns whether an element has a sentence outside of one that is within it."""
        skip = self.asides | {inner, *body.select("h1, header, footer, form")}
        lines = text.paragraphs(HtmlText().of(body, skip)).split("\n")
        return any(len(line) >= MIN_SENTENCE and _ends_as_sentence(line) for line in lines)

    def before(self, body: Element) -> Iterator[Element]:
        """Yields what stands right before the article's own text, nearest first."""
        before = (one for one in body.previous_siblings if isinstance(one, Element) and not self.is_aside(one))
        return islice(before, MAX_BEFORE)

    def first_post(self, region: Element) -> Element:
        """Returns the first of several posts in a region, or the region where there are none."""
        for element in region.select("[class]"):
            if not _post_names.search(class_names(element)) or self.is_aside(element):
                continue
            kind = _kind(element)
            if sum(_kind(one) == kind for one in (element, *islice(element.next_siblings, MAX_SIBLINGS))) >= LIKE_POSTS:
                body = element.select_one("[class*=body], [class*=content], [class*=text], [class*=message]")
                return element if body is None else body
        return region


def _others(found: Sequence[Element]) -> frozenset[Any]:
    """Returns the parts of a page that hold the texts after the first one, and nothing of that one."""
    first = frozenset(lineage(found[0]))
    others = (one for one in found[1:] if one not in first and found[0] not in one.ancestors)
    return frozenset(_last_before(lineage(one), first) for one in others)


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
    classes = element.attr("class") or ""
    return f"{classes if isinstance(classes, str) else ' '.join(classes)} {element.attr('id') or ''}".lower()


def _without_byline(element: Element) -> str:
    """Returns the names of an element without one of a byline beside the word for comments, if it may be a byline."""
    names = class_names(element)
    if _byline_with_comments.search(names) is None or len(element.text) >= SMALL_CHARACTERS:
        return names
    return _byline_with_comments.sub(" ", names)


def is_hiding(element: Element) -> bool:
    """Returns whether a class of an element says that nobody sees it."""
    names = class_names(element)
    return not _HIDING.isdisjoint(names.split()) and _is_shown_on_some(names) is None


def _is_comment(element: Element) -> bool:
    """Returns whether an element is one comment, and has words."""
    is_marked = (element.attr("itemtype") or "").lower().endswith("/comment")
    is_comment = element.tag in _COMMENT_TAGS and (is_marked or _comment_names(class_names(element)) is not None)
    return is_comment and len(element.text.strip()) >= MIN_TEXT_CHARACTERS


def _is_comment_head(element: Element, *, any_name: bool) -> bool:
    """Returns whether an element is the part of a comment that says who wrote it, and when, by its names.

    Args:
        element: In a comment.
        any_name: It is in such a part, and need not be named so, too.
    """
    names = class_names(element)
    without = names.replace("comment", " ") if any_name else _comment_head_name.sub(" ", names)
    return (any_name or without != names) and _aside_names.search(without) is None


def _is_teaser(element: Element) -> bool:
    """Returns whether an element announces another article."""
    is_named = element.tag == "article" and _teaser_names.search(class_names(element)) is not None
    return is_named and element.select_one("h1") is None


def _is_said(node: Any) -> bool:
    """Returns whether a node is the text in which a quote beside it is quoted; another quote isn't."""
    return node.tag == "p" if isinstance(node, Element) else len(node.text.strip()) >= MIN_SENTENCE


def _kind(node: Any) -> tuple[str, str] | None:
    return (node.tag, class_names(node).split(" ", 1)[0]) if isinstance(node, Element) else None


def _is_page_header(element: Element) -> bool:
    """Returns whether an element is what a page begins with on each page of a site."""
    parent = element.parent
    if not isinstance(parent, Element) or parent.tag != "body":
        return False
    return element.tag == "header" or not {"header", "banner"}.isdisjoint(class_names(element).split())


def _is_of_site(element: Element) -> bool:
    return element.tag in ("nav", "aside") or _logo_names.search(class_names(element)) is not None
