"""What crawls must reach: with a site's file all but everything, without selectors little that is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from testbed.truth.compare import Score

# Of the pages that show it: least share of which it must be read right, and largest of which it may be wrong.
TITLE_RIGHT, TIME_RIGHT, AUTHOR_RIGHT, AUTHOR_WRONG = 0.95, 0.8, 0.7, 0.02


def short_with_file(score: Score) -> list[str]:
    """Returns in words what a crawl with selectors falls short of; empty when nothing."""
    fields = {"title": score.title, "time": score.time, "author": score.author, "comments": score.comments}
    wrong = [
        f"{name} exact on {field.right} of {field.shown} pages, wrong on {field.wrong}"
        for name, field in fields.items()
        if field.right < field.shown or field.wrong
    ]
    return [*_pages(score), *wrong, *_text(score, median=0.98, worst=0.9)]


def short_without_selectors(score: Score) -> list[str]:
    """Returns in words what a crawl without selectors falls short of; empty when nothing."""
    title, time, author = score.title, score.time, score.author
    found = list(_pages(score))
    if title.right_share < TITLE_RIGHT:
        found.append(f"title exact on {title.right_share:.0%}, not {TITLE_RIGHT:.0%}")
    if time.wrong:
        found.append(f"time wrong on {time.wrong}")
    if time.right_share < TIME_RIGHT:
        found.append(f"time there on {time.right_share:.0%}, not {TIME_RIGHT:.0%}")
    if author.wrong > AUTHOR_WRONG * score.found:
        found.append(f"author wrong on {author.wrong / score.found:.0%}, not {AUTHOR_WRONG:.0%}")
    if author.right_share < AUTHOR_RIGHT:
        found.append(f"author there on {author.right_share:.0%}, not {AUTHOR_RIGHT:.0%}")
    return [*found, *_text(score, median=0.97, worst=0.8)]


def _pages(score: Score) -> Iterator[str]:
    if score.found < score.pages:
        yield f"{score.pages - score.found} pages not found"
    if score.twice or score.strange:
        yield f"{score.twice} pages twice, {len(score.strange)} items of no page ({', '.join(score.strange[:3])})"


def _text(score: Score, *, median: float, worst: float) -> Iterator[str]:
    if score.median_text < median:
        yield f"text F1 {score.median_text:.3f} in the median, not {median}"
    if score.worst_text < worst:
        url = min(score.texts, key=score.texts.__getitem__, default="no page")
        yield f"text F1 {score.worst_text:.3f} on {url}, not {worst}"
