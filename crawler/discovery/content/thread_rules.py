"""Rules of comments, and of what a thread begins with, where they read more than reading without selectors does.

That makes one text of all posts of a thread, and has them as comments, too. A thread's text is taken to be its first
post; by whom and when it was written stands there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawler.discovery.content.sample import Sample, select_where, squeezed
from crawler.discovery.pages import selectors

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from crawler.discovery.content.comment_rows import CommentRows
    from crawler.extract.comments import ReadComment

HEAD_CHARACTERS = 40  # a text begins with a post if it has its first characters, behind so many others at most
LEAST_SHARE = 0.8  # a single post's element has the most of what is read of its page, which may have a byline
MORE_THAN_READ = 1.5  # how many times as long as what is read of it an element may be: reading leaves parts out
AUTHORS_MIN = 2  # more rows than that have as many authors at least: what is the same in all is a rank or a status


def rules_of(samples: Sequence[Sample], rows: CommentRows | None) -> dict[str, Any]:
    """Returns rules of fields that are confirmed to read better than `auto`, by name; empty for none."""
    if any(sample.read is None for sample in samples):
        return {}
    rows = rows if rows and _are_sure(samples, rows) else None
    if rows and _begin_texts(samples, rows):
        return _of_first_rows(samples, rows)
    commented = [sample for sample in samples if sample.read and sample.read.comments]
    if commented and all(map(is_merged, commented)):
        return _of_first_posts(samples, commented)
    return _of_comments(samples, rows) if rows else {}


def is_merged(sample: Sample) -> bool:
    """Returns whether the text of a page begins with the first of what is read as its comments."""
    comments = sample.read.comments if sample.read else ()
    return bool(comments) and _begins(sample, comments[0].text)


def are_read(samples: Sequence[Sample], rows: CommentRows) -> bool:
    """Returns whether rows are just what is read as comments without selectors, which may miss a single one."""
    for sample, page_rows in zip(samples, rows.pages, strict=True):
        read = [*map(_said, sample.read.comments if sample.read else ())]
        if len(read) > len(page_rows) or (len(page_rows) > 1 and read != [*map(_said, _comments(sample, rows))]):
            return False
    return True


def _of_first_rows(samples: Sequence[Sample], rows: CommentRows) -> dict[str, Any]:
    """Returns rules of threads whose posts are rows."""
    rules: dict[str, Any] = {}
    bodies = [squeezed(page_rows[0][1].text) for page_rows in rows.pages]
    if any(sample.read and squeezed(sample.read.content) != body for sample, body in zip(samples, bodies, strict=True)):
        rules["content"] = _first_post(f"css:{rows.each} {rows.body}")
    for name in ("author", "published"):
        if name not in rows.rules:
            continue
        select = f"css:{rows.each} {rows.rules[name].removeprefix('css:')}"
        values = [(getattr(sample.read, name), getattr(sample.read_by({name: select}), name)) for sample in samples]
        if not all(read for read, _ in values) and all(read in (None, by_row) for read, by_row in values):
            rules[name] = select
    return rules | {"comments": {**rows.rules, "skip_first": True}}


def _of_first_posts(samples: Sequence[Sample], commented: Sequence[Sample]) -> dict[str, Any]:
    """Returns rules of threads whose posts are read well without selectors."""

    def is_first_post(sample: Sample, element: Any) -> bool:
        comments = sample.read.comments if sample.read else ()
        if not comments:  # what is read of a thread of one post may have its byline
            return _has_text(sample, element, _text(sample), (), LEAST_SHARE)
        return _has_text(sample, element, comments[0].text, [comment.text for comment in comments[1:]])

    select = _smallest([commented[0], *samples], is_first_post)
    return {"content": _first_post(select), "comments": {"each": "auto", "skip_first": True}} if select else {}


def _of_comments(samples: Sequence[Sample], rows: CommentRows) -> dict[str, Any]:
    """Returns rules of comments that are rows, and of a text that has theirs unless a selector leaves them out."""
    texts = {
        sample: [squeezed(body.text) for _row, body in page_rows]
        for sample, page_rows in zip(samples, rows.pages, strict=True)
    }
    own = {
        sample: "\n".join(line for line in _text(sample).splitlines() if not _is_in(line, texts[sample]))
        for sample in samples
    }
    rules: dict[str, Any] = {} if are_read(samples, rows) else {"comments": rows.rules}
    if all(own[sample] == _text(sample) for sample in samples):
        return rules
    select = _smallest(samples, lambda sample, element: _has_text(sample, element, own[sample], texts[sample]))
    return rules | ({"content": {"select": select, "required": True}} if select else {})


def _smallest(samples: Sequence[Sample], holds: Callable[[Sample, Any], bool]) -> str:
    """Returns the selector of the smallest element of which something holds; of equal ones, one with a name."""
    elements = [element for element in samples[0].page.tree.select("body *") if holds(samples[0], element)]
    sizes = {element: len(squeezed(element.text)) for element in elements}
    elements.sort(key=lambda element: (sizes[element], not selectors.classes(element)))
    return select_where(samples, elements, holds)


def _has_text(sample: Sample, element: Any, text: str, others: Sequence[str], share: float = 1.0) -> bool:
    """Returns whether an element has a text, or that share of it, and little else; none of some other texts."""
    lines = [squeezed(line) for line in text.splitlines()]
    size = sum(map(len, lines))
    if len(squeezed(element.text)) < share * size:
        return False
    shown = squeezed(sample.page.text_of(element))
    return (
        0 < len(shown) <= MORE_THAN_READ * size
        and sum(len(line) for line in lines if line in shown) >= share * size
        and not any(squeezed(other) in shown for other in others)
    )


def _first_post(select: str) -> dict[str, Any]:
    return {"select": select, "first_page_only": True, "required": True}


def _text(sample: Sample) -> str:
    return sample.read.content if sample.read else ""


def _is_in(line: str, texts: Sequence[str]) -> bool:
    return any(squeezed(line) in text for text in texts)


def _begins(sample: Sample, text: str) -> bool:
    """Returns whether what is read of a page begins with a text, or with the head of it."""
    return 0 <= squeezed(_text(sample)).find(squeezed(text)[:HEAD_CHARACTERS]) <= HEAD_CHARACTERS


def _begin_texts(samples: Sequence[Sample], rows: CommentRows) -> bool:
    """Returns whether the text of each page begins with its first row."""
    return all(
        page_rows and _begins(sample, sample.page.text_of(page_rows[0][1]))
        for sample, page_rows in zip(samples, rows.pages, strict=True)
    )


def _are_sure(samples: Sequence[Sample], rows: CommentRows) -> bool:
    """Returns whether rows have authors and times, and all that is read of comments without selectors."""
    if not {"author", "published"} <= rows.rules.keys():
        return False
    comments = [_comments(sample, rows) for sample in samples]
    authors = [comment.author for page_comments in comments for comment in page_comments]
    if len(authors) > AUTHORS_MIN and len(set(authors)) < AUTHORS_MIN:
        return False
    return all(
        _has_all(page_comments, sample.read.comments if sample.read else ())
        for sample, page_comments in zip(samples, comments, strict=True)
    )


def _has_all(comments: Sequence[ReadComment], others: Sequence[ReadComment]) -> bool:
    """Returns whether comments say what other ones of the same texts do: whose they are, and when written."""
    texts, known = {squeezed(comment.text) for comment in comments}, set(map(_said, comments))
    return all(_said(other) in known for other in others if squeezed(other.text) in texts)


def _comments(sample: Sample, rows: CommentRows) -> tuple[ReadComment, ...]:
    return sample.read_by({"title": "auto", "comments": rows.rules}).comments


def _said(comment: ReadComment) -> tuple[str, str | None, str]:
    return squeezed(comment.text), comment.author, str(comment.published)
