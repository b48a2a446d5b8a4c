"""Finds the content of two pages: the smallest block that holds most of the text which only one of them has.

A thread's content is its first post, and the others are comments, where each says who wrote it when; else it is a block
in each of its posts.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from turbohtml import Element, Text

from crawler.discovery import comment_rows, comments, selectors
from crawler.discovery.comment_rows import name_words
from crawler.discovery.comments import APART_SHARE
from crawler.discovery.page import ancestors, width, within
from crawler.discovery.sample import SHORT_CHARACTERS, first_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from crawler.discovery.page import ParsedPage
    from crawler.discovery.rules import RuleKeys
    from crawler.discovery.sample import Sample

OWN_SHARE = 0.6  # of a block's own text: an inner block with so much of it is the content instead
UNLIKE_SHARE = 0.3  # is enough where the block beside it has another form: an article and the comments on it
HELD_SHARE = 0.9  # of the text in the content of a further page, that a selector must find there
POSTED_SHARE = 0.5  # of a first post, that the part must hold by which the other posts are read to be its text
POSTS_SHARE = 0.8  # of the text of a block that blocks of one class must hold to be the posts of a thread
POSTS_MIN = 2
PART_WIDTH = 20  # of a text; shorter ones are labels, of which some are on one page alone by chance
REMOVED_MAX = 10  # blocks within the content that are left out
REMOVED_SHARE = 0.5  # of the content's own text, on each page: what holds more is left in, whatever its name
CLASSES_MAX = 100  # elements within the content that are looked at for those
_BOXES = frozenset(
    """article blockquote center dd div dl fieldset figure form li main ol pre section table tbody td tr
    ul""".split()
)
_ASIDE = frozenset({"script", "style", "noscript", "template", "nav", "footer", "aside", "select", "textarea"})
_MENUS = ("nav", "aside", "form")
# At the beginning or the end of a name: `share-twitter`, `post-tags`.
_OTHER_NAMES = frozenset("comments pager pagination replies share sharing social tags".split())
_LINKS_TO_COMMENTS = "p:has(> a[href='#comments'])"
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_INLINE = frozenset({"p", "tr", "td", "span", "b", "i", "a", "em", "strong", "img", "h1", "h2", "h3"})


@dataclass(frozen=True, slots=True)
class BodyText:
    """The content of two pages.

    Attributes:
        elements: On each page, those that are the content.
        rule: The site file's rule that selects them.
        comments: On each page, the blocks that are comments on it.
        by: The rules of author and date of the first post of a thread, which are those of its comments.
    """

    elements: tuple[tuple[Any, ...], ...]
    rule: RuleKeys
    comments: tuple[tuple[Any, ...], ...] = ()
    by: Mapping[str, RuleKeys] = field(default_factory=dict)


def find(samples: Sequence[Sample], further: Sequence[Sample] = (), *, continues: bool = False) -> BodyText | None:
    """Returns the content of two pages; None if no selector finds it on both.

    Args:
        samples: Two pages of different content, which are compared.
        further: More pages: on each of them the selector must find most of its own text, too.
        continues: Some have second pages, where the first post is one more comment.
    """
    every = [*samples, *further]
    said = comments.find(every, "")
    if said and not _are_apart(every, said):
        if post := _first_of_alike(every, said, continues=continues):
            return post
        said = None
    rows = said.blocks if said else tuple(() for _ in every)
    text = _block(samples, further, frozenset(chain(*rows)))
    if said and (text is None or _are_titles(samples, text)):  # what was left out is the content then
        said, rows = None, tuple(() for _ in every)
        text = _block(samples, further, frozenset())
    if text is None:
        return None
    if text.rule.get("all"):
        firsts = tuple(elements[:1] for elements in text.elements)
        css = first_of(samples, [found[0] for found in firsts])
        post = _post(every, firsts, css, continues=continues) if css else None
        return post or replace(text, comments=rows)
    said = comments.find(every, text.rule["select"]) or said
    if said is None:
        return text
    elements, css = _narrowed(every, said, text.elements, text.rule["select"])
    rule = text.rule
    if css != text.rule["select"]:
        parts = [top for of_page in elements for top in of_page]
        left = [one for one in rule.get("remove", ()) if any(map(partial(_finds, one), parts))]
        rule = {"select": css} | ({"remove": left} if left else {})
    # A reply that isn't read is better than one that is read as what it answers.
    once = {"first_page_only": True} if continues and any(said.posts) else {}
    return BodyText(elements, rule | once, said.blocks, _by(every, said))


def _finds(select: str, top: Any) -> bool:
    return top.select_one(select.removeprefix("css:")) is not None


def _are_apart(every: Sequence[Sample], said: comments.Proposed) -> bool:
    """Returns whether an article stands before the first of what may be comments, which else is the article itself."""
    if not all(said.rows):
        return True
    rows = [of_page[::-1] if said.is_newest_first else of_page for of_page in said.rows]
    others = [*every[1:], every[0]]
    weights = [_Weights(here.page, there.page) for here, there in zip(every, others, strict=True)]
    before = sum(
        one.before(of_page[0], here.title) for one, of_page, here in zip(weights, said.rows, every, strict=True)
    )
    firsts = [(one, said.blocks_of(of_page[0])) for one, of_page in zip(weights, rows, strict=True)]
    return before >= APART_SHARE * sum(one.held(block) for one, first in firsts for block in first)


def _are_titles(samples: Sequence[Sample], text: BodyText) -> bool:
    """Returns whether what is taken for the content says no more than the titles of the pages."""
    written = [
        (sample.page.text_of(found[0]), sample.title) for sample, found in zip(samples, text.elements, strict=True)
    ]
    return all(one in title for one, title in written)


def _first_of_alike(every: Sequence[Sample], said: comments.Proposed, *, continues: bool) -> BodyText | None:
    """Returns the first of posts that are all alike as content; None if no selector tells it from the others."""
    firsts = [rows[-1 if said.is_newest_first else 0] for rows in said.rows]
    texts = [_text_in(said, first) for first in firsts]
    if any(one is None or one == first for one, first in zip(texts, firsts, strict=True)):
        return None
    css = first_of(every, texts) or _by_place(every, said, texts)
    return _post(every, tuple((one,) for one in texts), css, continues=continues) if css else None


def _by_place(every: Sequence[Sample], said: comments.Proposed, texts: Sequence[Any]) -> str:
    """Returns the selector of the texts of posts by their places among all posts; empty if there is none.

    Args:
        every: The pages.
        said: All posts.
        texts: On each page, the text of the first post, or of the last one where the newest comes first.
    """
    css = said.rules["each"].removeprefix("css:")
    post = comment_rows.last_of(css, [sample.page for sample in every]) if said.is_newest_first else css
    within_it = next(iter(_css_of(said.rules["text"])), "")
    tried = f"{post} + {said.body_tag}" if said.body_tag else f"{post} {within_it}"
    if not post or not (said.body_tag or within_it):
        return ""
    found = [sample.page.tree.select(tried)[:1] for sample in every]
    return f"css:{tried}" if found == [[one] for one in texts] else ""


def _text_in(said: comments.Proposed, post: Any) -> Any:
    """Returns what holds the text of a post, by the rule of comments; None if nothing in it does."""
    if said.body_tag:
        return said.blocks_of(post)[1]
    rule = said.rules["text"]
    found = next((post.select_one(css) for css in _css_of(rule)), None)
    return found.parent if isinstance(rule, dict) and rule.get("all") and found is not None else found


def _css_of(rule: RuleKeys | str) -> list[str]:
    """Returns the CSS selector of a rule; nothing if it has none."""
    select: str = rule["select"] if isinstance(rule, dict) else rule
    return [select.removeprefix("css:")] if select.startswith("css:") else []


def _post(
    every: Sequence[Sample], firsts: tuple[tuple[Any, ...], ...], css: str, *, continues: bool
) -> BodyText | None:
    """Returns the first post of a thread as content, if the others are comments that say who wrote them when.

    Args:
        every: The pages.
        firsts: On each page that is compared, the text of its first post.
        css: The selector of those.
        continues: Some have second pages: then what tells first posts must be more than their place.
    """
    said = comments.find(every, css)
    if said is None or not {"author", "published"} <= said.rules.keys() or (said.is_newest_first and continues):
        return None
    once = _once(said, continues=continues)
    if continues and not once:
        return None
    firsts, css = _narrowed(every, said, firsts, css)
    return BodyText(firsts, {"select": css} | once, said.blocks, _by(every, said))


def _narrowed(
    every: Sequence[Sample], said: comments.Proposed, tops: tuple[tuple[Any, ...], ...], css: str
) -> tuple[tuple[tuple[Any, ...], ...], str]:
    """Returns the texts of first posts without heading and byline, where the texts of the others are read so.

    Args:
        every: The pages.
        said: The other posts.
        tops: On each page that is compared, what is taken for the text of the first one.
        css: The selector of those.
    """
    posts = [post for of_page in said.posts for post in of_page]
    whole: list[Any] = [sample.page.tree.select_one(css.removeprefix("css:")) for sample in every]
    if len(posts) < len(every) or said.body_tag or None in whole:
        return tops, css
    # A paragraph stands for what holds all of them.
    found = [
        {one.parent if one.tag == "p" else one for one in post.select(select)}
        for select in _css_of(said.rules["text"])
        for post in posts
    ]
    parts = [one.pop() for one in found if len(one) == 1]
    if len(parts) < len(posts) or not all(
        part != top and within(part, top) for part, top in zip(parts, whole, strict=True)
    ):
        return tops, css
    holds_enough = sum(width(one.text) for one in parts) >= POSTED_SHARE * sum(width(one.text) for one in whole)
    narrower = first_of(every, parts) if holds_enough else ""
    return (tuple((one,) for one in parts[: len(tops)]), narrower) if narrower else (tops, css)


def _once(said: comments.Proposed, *, continues: bool) -> RuleKeys:
    """Returns the keys of the rule of first posts that leave further pages to comments, if those have all of them."""
    return {"first_page_only": True} if continues and any(said.posts) and " ~ " not in said.rules["each"] else {}


def _by(every: Sequence[Sample], said: comments.Proposed) -> dict[str, RuleKeys]:
    """Returns the rules of author and date of the first posts, where those of the other posts find them, too."""
    found: dict[str, RuleKeys] = {}
    for name in [name for name in ("author", "published") if name in said.rules]:
        rule = said.rules[name] if isinstance(said.rules[name], dict) else {"select": said.rules[name]}
        if rule["select"].startswith("xpath:string("):
            continue
        css, mark, attribute = rule["select"].removeprefix("css:").partition("::")
        is_itself = css == "xpath:."
        elements = [post if is_itself else post.select_one(css) for posts in said.posts for post in posts]
        if len(elements) == len(every) and all(one is not None for one in elements) and "remove" not in rule:
            select = first_of(every, elements)
            found |= {name: {**rule, "select": f"{select}{mark}{attribute}"}} if select else {}
    return found


def _block(samples: Sequence[Sample], further: Sequence[Sample], aside: Collection[Any]) -> BodyText | None:
    """Returns the smallest block of two pages with most of their text, or the posts in it.

    Args:
        samples: Two pages of different content.
        further: More pages.
        aside: Comments, whose texts don't count.
    """
    one, other = (_Weights(here.page, there.page, aside) for here, there in (samples, reversed(samples)))
    blocks = one.blocks, other.blocks
    if not all(blocks):
        return None
    more = [_Weights(sample.page, samples[0].page, aside) for sample in further]
    for here in reversed(blocks[0]):
        for there in reversed(blocks[1]):
            css = first_of(samples, (here, there)) if here.tag == there.tag else ""
            if not css or not all(weights.holds_content(css) for weights in more):
                continue
            for name in one.post_names(here) or other.post_names(there):
                posts = [one.posts(here, name), other.posts(there, name)]
                if all(posts) and (css_of_posts := _all_of(samples, posts)):
                    return BodyText(tuple(map(tuple, posts)), {"select": css_of_posts, "all": True})
            removed = [*_other_parts((here, there), (one, other)), *_boilerplate(samples, (here, there))][:REMOVED_MAX]
            return BodyText(((here,), (there,)), {"select": css} | ({"remove": removed} if removed else {}))
    return None


class _Weights:
    """How much text each element of a page holds that another page hasn't.

    Args:
        page: The page.
        other: Another content page of the site.
        aside: Comments of either, whose texts don't count.
    """

    def __init__(self, page: ParsedPage, other: ParsedPage, aside: Collection[Any] = frozenset()) -> None:
        self._page = page
        theirs = {written.casefold() for _element, written in _texts(other, aside)}
        self._own: Counter[Any] = Counter()
        for element, written in _texts(page, aside):
            if width(written) >= PART_WIDTH and written.casefold() not in theirs:
                self._own[element] += width(written)
        self._held: Counter[Any] = Counter()
        for element, amount in self._own.items():
            for around in (element, *ancestors(element)):
                self._held[around] += amount
        body = page.tree.select_one("body")
        self.blocks = self._inwards(body)[1:] or [body] if body is not None and self._held[body] else []

    def held(self, element: Any) -> int:
        """Returns how much an element holds."""
        return self._held[element]

    def before(self, element: Any, title: str) -> int:
        """Returns how much stands before an element, but for the page's title."""
        order = self._page.order
        titled = [one for one in self._own if order[one] < order[element] and self._page.text_of(one) not in title]
        return sum(self._own[one] for one in titled)

    def holds_content(self, css: str) -> bool:
        """Returns whether the first match of a selector holds nearly all that the page's content holds."""
        found = self._page.tree.select_one(css.removeprefix("css:"))
        whole = self._held[self.blocks[-1]] if self.blocks else 0
        return found is not None and self._held[found] >= HELD_SHARE * whole

    def _inwards(self, top: Any) -> list[Any]:
        """Returns blocks within each other, from a block to the smallest that holds most of its text."""
        blocks = [top]
        while inner := self._main_part(blocks[-1]):
            blocks.append(inner)
        return blocks

    def post_names(self, top: Any) -> list[str]:
        """Returns the classes of the posts of a thread, those that hold the least besides their texts first.

        Blocks side by side with headings between them are the parts of one text instead.
        """
        boxes = [one for one in top.select("[class]")[:CLASSES_MAX] if one.tag in _BOXES and self._held[one]]
        names = Counter(name for one in boxes for name in selectors.classes(one))
        sizes = {}
        for name, count in names.items():
            found = self.posts(top, name) if count >= POSTS_MIN else []
            are_parts = len({one.parent for one in found}) == 1 and any(map(_follows_heading, found))
            if len(found) >= POSTS_MIN and not are_parts:
                sizes[name] = sum(len(one.text) for one in found)
        places = {name: place for place, name in enumerate(sizes)}
        return sorted(sizes, key=lambda name: (sizes[name], -places[name]))  # of two as large, the inner one first

    def posts(self, top: Any, name: str) -> list[Any]:
        """Returns the blocks of a class that together hold nearly all of a block's own text; empty if they don't."""
        found = [one for one in top.select(f".{name}") if one.tag in _BOXES and self._held[one]]
        all_found = frozenset(found)  # each is looked up in it
        outer = [one for one in found if all_found.isdisjoint(ancestors(one))]
        return outer if sum(self._held[one] for one in outer) >= POSTS_SHARE * self._held[top] else []

    def _main_part(self, top: Any) -> Any:
        """Returns the inner block that is the content rather than the block itself; None if there is none."""
        inner = sorted((one for one in top if _is_box(one)), key=lambda one: -self._held[one])
        if not inner or not self._held[inner[0]]:
            return None
        largest, rest = inner[0], [one for one in inner[1:] if self._held[one]]
        if self._held[largest] >= OWN_SHARE * self._held[top]:
            return largest
        is_apart = not any(_alike(largest, one) for one in rest) and not self._has_paragraphs(top)
        return largest if is_apart and self._held[largest] >= UNLIKE_SHARE * self._held[top] else None

    def _has_paragraphs(self, top: Any) -> bool:
        """Returns whether a block has text of its own beside inner blocks: then it is what holds the text."""
        return bool(self._own[top]) or any(
            isinstance(one, Element) and one.tag == "p" and self._own[one] for one in top
        )


def _all_of(samples: Sequence[Sample], elements: Sequence[Sequence[Any]]) -> str:
    """Returns a selector, with `css:`, of just these elements of the pages; empty if there is none."""
    wanted = [(sample.page.tree, found) for sample, found in zip(samples, elements, strict=True)]
    found = selectors.all_of(wanted)
    return f"css:{found.css}" if found and not found.misses else ""


def _follows_heading(element: Any) -> bool:
    before = next((one for one in element.previous_siblings if isinstance(one, Element)), None)
    return before is not None and before.tag in _HEADINGS


def _is_box(node: Any) -> bool:
    return isinstance(node, Element) and node.tag in _BOXES


def _alike(one: Any, other: Any) -> bool:
    names, others = set(selectors.classes(one)), set(selectors.classes(other))
    return one.tag == other.tag and (bool(names & others) or not (names or others))


def _texts(page: ParsedPage, left_out: Collection[Any]) -> Iterator[tuple[Any, str]]:
    """Yields the texts of a page with the elements that hold them, but for menus, what isn't shown or is left out."""
    aside: set[Any] = set()
    for element in page.order:
        if element.tag in _ASIDE or element in left_out or element.parent in aside:
            aside.add(element)
            continue
        written = " ".join(" ".join(str(node.data) for node in element if isinstance(node, Text)).split())
        if written:
            yield element, written


def _other_parts(tops: Sequence[Any], weights: Sequence[_Weights]) -> list[str]:
    """Returns selectors of blocks within the content whose names say that they are something else, such as comments."""
    named: dict[str, None] = {}
    for top in tops:
        for one in [*top.select("[id]")[:CLASSES_MAX], *top.select("[class]")[:CLASSES_MAX]]:
            identity = one.attr("id") or ""
            named |= {f"#{identity}": None} if identity in _OTHER_NAMES else {}
            for name in selectors.classes(one):
                words = name_words(name)
                named |= {f".{name}": None} if words and {words[0], words[-1]} & _OTHER_NAMES else {}
    named |= {_LINKS_TO_COMMENTS: None}
    found: dict[str, list[Any]] = {}
    for css in named:
        blocks = [one for top in tops for one in top.select(css)]
        is_small = all(
            sum(weight.held(one) for one in top.select(css)) <= REMOVED_SHARE * weight.held(top)
            for top, weight in zip(tops, weights, strict=True)
        )
        is_small &= css != _LINKS_TO_COMMENTS or all(len(one.text.strip()) <= SHORT_CHARACTERS for one in blocks)
        outer = list(chain(*found.values()))
        if blocks and is_small and not all(any(within(one, around) for around in outer) for one in blocks):
            found[css] = blocks
    return [f"css:{css}" for css in found]


def _boilerplate(samples: Sequence[Sample], tops: Sequence[Any]) -> list[str]:
    """Returns selectors of named blocks within the content that say the same on both pages."""
    found: dict[str, Any] = {}
    names = (name for one in tops[0].select("[class]")[:CLASSES_MAX] for name in selectors.classes(one))
    for name in dict.fromkeys(names):
        here, there = (top.select(f".{name}") for top in tops)
        if (
            not len(here) == len(there) == 1
            or here[0].tag in _INLINE
            or any(within(here[0], one) for one in found.values())
        ):
            continue
        written = [sample.page.text_of(one) for sample, one in zip(samples, (here[0], there[0]), strict=True)]
        if written[0] and written[0] == written[1]:
            found[f"css:.{name}"] = here[0]
    menus = [f"css:{tag}" for tag in _MENUS if all(top.select_one(tag) is not None for top in tops)]
    return [*menus, *found]
