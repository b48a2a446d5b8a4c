"""Compares some results with each other: where do title, author, date, text and comments stand on a content page?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from crawler.base.errors import HeadroomError
from crawler.discovery import comments, fields, next_links, scripted
from crawler.discovery.comment_rows import ROWS_MAX, ROWS_MIN
from crawler.discovery.inquiry import FIRST_ERROR, page_of
from crawler.discovery.sample import Sample

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crawler.base.models import Fetched
    from crawler.discovery.inquiry import Inquiry
    from crawler.discovery.listing import Result
    from crawler.discovery.page import ParsedPage

SAMPLES = 2  # content pages that are compared
FURTHER = 2  # that are looked through for what not every page has, such as images
COUNTED = 50  # results that are asked how many comments they have


async def samples_of(inquiry: Inquiry, results: Sequence[Result], front: ParsedPage) -> list[Sample]:
    """Returns the content pages that are compared: the first and the last result that can be had, and further ones.

    One of them has comments, where any result says so.
    """
    samples: list[Sample] = []
    own = [one for one in results if urlsplit(one.url).hostname == urlsplit(front.url).hostname]
    for result in _in_order(own)[: SAMPLES + FURTHER + 1]:
        if len(samples) == SAMPLES + FURTHER:
            break
        why = "a result, to compare with another one" if len(samples) < SAMPLES else "a result, to see what it has more"
        try:
            page = page_of(await inquiry.visitor.ask(result.url, why))
        except HeadroomError as error:
            inquiry.notes.say("content", f"{result.url}: {error}")
            continue
        if page is not None and page.fetched.status < FIRST_ERROR and page.url not in {s.page.url for s in samples}:
            samples.append(Sample(page, result.title, result.beside()))
        if len(samples) == SAMPLES and all(scripted.is_shell(one.page) for one in samples):
            break  # further ones say as little before their scripts have run
    return samples


def _in_order(results: Sequence[Result]) -> list[Result]:
    """Returns results in the order in which they are asked for.

    Behind those that are compared comes the one that says that it has the most comments, unless one that is asked for
    has as many: without any nobody sees how they are read, and a link to a second page stands below many of them alone.
    """
    ordered = [*results[:1], *results[:0:-1]]
    counts = {one.url: min(one.comments(), ROWS_MAX) for one in results[:COUNTED]}
    best = max(results[:COUNTED], key=lambda one: counts[one.url], default=None)
    asked = ordered[: SAMPLES + FURTHER]
    if best is None or counts[best.url] < ROWS_MIN or any(counts.get(one.url, 0) >= counts[best.url] for one in asked):
        return ordered
    ordered.remove(best)
    return [*ordered[:SAMPLES], best, *ordered[SAMPLES:]]


async def read(inquiry: Inquiry, samples: Sequence[Sample]) -> tuple[dict[str, Any], Mapping[str, Fetched]]:
    """Returns the keys by which content pages are read, and those that were, by their addresses."""
    as_they_came = {sample.page.url: sample.page.fetched for sample in samples}
    if len(samples) >= SAMPLES and (
        all(scripted.is_shell(one.page) for one in samples)
        or "content" not in fields.compare(samples[:SAMPLES], samples[SAMPLES:])
    ):
        found = await scripted.content(inquiry, samples[:SAMPLES])
        if found:
            render = {"render": {"content": scripted.ALWAYS}} if found.needs_browser else {}
            return {"content": found.content, **render}, found.read
    return _keys_of(inquiry, samples), as_they_came


def _keys_of(inquiry: Inquiry, samples: Sequence[Sample]) -> dict[str, Any]:
    """Returns the key `content`, with notes on what is lacking; nothing where too little was found."""
    if len(samples) < SAMPLES:
        inquiry.notes.miss(
            "content", "fewer than two results could be read; without it, texts are found without selectors"
        )
        return {}
    rules = fields.compare(samples[:SAMPLES], samples[SAMPLES:])
    shown = {"title": "no heading", "author": "no name of an author", "published": "no date", "content": "no block"}
    for name, what in shown.items():
        if name not in rules:
            inquiry.notes.miss(f"content.{name}", f"{what} was found that stands in the same place of two results")
    content: dict[str, Any] = {key: rule["select"] if list(rule) == ["select"] else rule for key, rule in rules.items()}
    if "content" in content:
        content["content"] = rules["content"] | {"required": True}
        content |= _comments(inquiry, samples, content["content"])
        if following := next_links.to_second_pages([one.page for one in samples]):
            content["next_page"] = following
    if "published" in rules:
        inquiry.notes.say(
            "timezone", "of dates that name no zone, such as Asia/Shanghai; without it, they are read as UTC"
        )
    return {"content": content} if "content" in content or "title" in content else {}


def _comments(inquiry: Inquiry, samples: Sequence[Sample], text: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the key `comments`, and `content` without them where they stand in it; nothing where none are found.

    Args:
        text: The rule of the content. Where that is all posts of a thread, none of them is a comment besides.
    """
    if text.get("all"):
        return {}
    found = comments.find(samples, text["select"])
    if found is None:
        inquiry.notes.say("content.comments", "no list of comments was found on these pages")
        return {}
    if found.body_tag:
        inquiry.notes.say(
            "content.comments", "each is two blocks: `each` finds the head, and `text` what stands behind it"
        )
    if found.is_newest_first and any(found.posts):
        inquiry.notes.say("content.comments", "the newest comes first, so the last one is the text that they answer")
    if text.get("first_page_only") and " ~ " in found.rules["each"]:
        inquiry.notes.say(
            "content.comments",
            "of each further page, the first one is left out: nothing but its place tells the first post of a thread",
        )
    without = {"content": {**text, "remove": [*text.get("remove", ()), *found.removed]}}
    return {"comments": found.rules} | (without if found.is_inside else {})
