"""What `scrapy site check` prints: a name and a text for each thing that it shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from crawler.base.errors import short

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

Row = tuple[str, str]
HTTP_OK = 200
PLAIN = {True: "needs no browser (content.fetch, search.url)", False: "needs the browser"}
MAX_NEWS = 5  # most texts, and links, that are shown of a state; `--json` has all
BOUNDS = "its time or number of states was over (--seconds, --states), or a state had over 500 elements to click"
DECLARATIONS = "what pages declare, and what their parts are usually named"
HAS_WORDS = "its text has all of them (`results.match_text`)"
LACKS_WORDS = "its text lacks one: a crawl fails it as lacks-words (`results.match_text`)"
MATCH_TEXT = "results whose text has all words of one of the plan's combinations (`results.match_text`)"
NEEDS_BASE = "none: each plan gives it, as {use: NAME, name: ..., base: https://...}"
UNSEARCHED = "none: its pages are only offered"
_OF_THE_SITE = ("site", "base", "content_type")  # these aren't said again for the page of a result


def rows(shown: Mapping[str, Any]) -> Iterator[Row]:
    """Yields the rows of an answer, in its order; what is empty has none."""
    for name, value in shown.items():
        if name in _ROWS:
            yield from _ROWS[name](value)
        else:
            label, text_of = _TEXTS.get(name, (name, _as_text))
            if text := text_of(value):
                yield label, text


def _field_rows(fields: dict[str, Any]) -> Iterator[Row]:
    for name, value in fields.items():
        if name == "extra":
            yield from ((f"extra.{key}", _as_text(entry)) for key, entry in value.items())
        elif name == "comments":
            yield from _comment_rows(value)
        elif name not in ("missing", "joined") and value:
            yield name, _as_text(value)
    yield "missing", ", ".join(fields["missing"]) or "nothing"


def _comment_rows(comments: Sequence[dict[str, Any]]) -> Iterator[Row]:
    """Yields each comment as an item has it: whose it is, of when, which one it answers, and its text."""
    from crawler.extract.comments import ReadComment, in_item  # takes long, and all commands would wait for it

    lines = []
    for number, record in enumerate(in_item([ReadComment(**comment) for comment in comments]), 1):
        about = [
            *filter(None, (record.author, record.published)),
            *([f"answers {record.parent + 1}"] if record.parent is not None else []),
            *([f"{record.likes} likes"] if record.likes is not None else []),
        ]
        lines.append(f"{number}  {', '.join(about) or 'nobody'}: {record.text}")
    if lines:
        yield "comments", "\n".join(lines)


def _joined_rows(requests: list[dict[str, Any]]) -> Iterator[Row]:
    """Yields each further request for the item, and the names of the fields that it has."""
    for request in requests:
        extra = request["fields"].get("extra", {})
        names = [name for name in request["fields"] if name != "extra"] + [f"extra.{name}" for name in extra]
        yield "joined", " ".join(filter(None, (request["url"], request["fails"] or ", ".join(names) or "nothing")))


def _link_rows(links: dict[str, Any]) -> Iterator[Row]:
    none = "the site says that there are no results" if links["empty"] else "and nothing says that there are no results"
    if unmatched := links.get("unmatched"):
        none = "no row has all of the words"
    yield "links", _as_text(links["urls"]) or f"none: {none}"
    if unmatched:
        yield "unmatched", f"{unmatched} more, whose rows lack a word (`results.match`)"
    if of_rows := [f"{url}: {row['said']}" for url, row in links["rows"].items() if row["said"]]:
        yield "rows", _as_text(of_rows)
    yield from _left_out_rows(links)
    if links["next"]:
        yield "next", _request(links["next"])


def _follow_rows(follows: Any) -> Iterator[Row]:
    """Yields what is followed on a page; of a site, what it says of that."""
    if "urls" in follows:
        yield "follows", _as_text(follows["urls"]) or "none"
        yield from _left_out_rows(follows)
    elif follows:
        yield "follows", _as_text(follows)


def _left_out_rows(links: dict[str, Any]) -> Iterator[Row]:
    """Yields how many links weren't taken, and why."""
    if links["left_out"]:
        yield "left out", f"{links['left_out']} more"
    if links["traps"]:
        yield "traps", f"{links['traps']} that look like one of infinitely many"
    if links["routes"]:
        yield "routes", f"{links['routes']} that only a browser's script can open (#/...)"


def _end_rows(end: dict[str, Any]) -> Iterator[Row]:
    place = f"page {end['page']}, status {end['status']}, {end['url']}: " if "page" in end else ""
    yield "past the end", f"{place}{end['says']}"


def _result_rows(result: dict[str, Any]) -> Iterator[Row]:
    yield from rows({name: value for name, value in result.items() if name not in _OF_THE_SITE})


def _secret_rows(secrets: dict[str, Any]) -> Iterator[Row]:
    for name, about in secrets.items():
        hosts = ", ".join(about["hosts"])
        to = f"sent to {hosts}" if hosts else "bound to no host (SITE_SECRET_HOSTS), so its pages would wait"
        yield name, f"{to}; {'set here' if about['is_set'] else 'not set here'}"


def _answer_rows(answers: list[dict[str, Any]]) -> Iterator[Row]:
    """Yields the JSON that a rendered page loaded, and what can be selected in it."""
    for number, answer in enumerate(answers, 1):
        holds = [f"json:{path}  {example}" for path, example in answer["holds"].items()]
        about = [
            answer["url"] if answer["method"] == "GET" else f"{answer['method']} {answer['url']}",
            *([f"status {answer['status']}"] if answer["status"] != HTTP_OK else []),
            f"{answer['bytes']} bytes",
            *(["read by `from`"] if answer["is_read"] else []),
            *([PLAIN[answer["is_plain"]]] if answer["is_plain"] is not None else []),
        ]
        yield f"answer {number}", "\n".join([", ".join(about), *holds])
    if not answers:
        yield "answers", "none: it loads no JSON"


def _state_rows(states: list[dict[str, Any]]) -> Iterator[Row]:
    """Yields the states of an explored page that show something new: the steps that lead there, and what that is."""
    for number, state in enumerate(states):
        if not state["texts"] and not state["links"]:
            continue
        steps = [
            f"- {action}: {orjson.dumps(target).decode()}" for step in state["steps"] for action, target in step.items()
        ]
        news = [*state["texts"][:MAX_NEWS], *state["links"][:MAX_NEWS]]
        more = len(state["texts"]) + len(state["links"]) - len(news)
        yield (
            f"state {number}",
            "\n".join([*steps, *(short(text) for text in news), *([f"and {more} more"] if more else [])]),
        )


def _step_rows(steps: list[dict[str, Any]]) -> Iterator[Row]:
    """Yields each step that was played on a page, with what it took."""
    for step in steps:
        times = f", {step['times']} times" if step["times"] > 1 else ""
        yield f"step {step['number']}", f"{step['step']}: {step['seconds']:.2f} s{times}"


def _unanswered_rows(unanswered: dict[str, str]) -> Iterator[Row]:
    yield from (("not loaded", f"{url}: {why}") for url, why in unanswered.items())


def _described_rows(url: str) -> Iterator[Row]:
    if url:
        yield "described", f"by {url}, which is read when a plan with the site is checked or submitted, and by --search"
        yield "", "until then it isn't known which address it searches, nor whether robots.txt forbids that"


def _request(target: dict[str, Any]) -> str:
    return " ".join(filter(None, (target["method"], target["url"], target["body"])))


def _as_text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "\n".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {entry}" for key, entry in value.items())
    return "" if value is None else str(value)


_ROWS: dict[str, Callable[[Any], Iterator[Row]]] = {
    "answers": _answer_rows,
    "described": _described_rows,
    "fields": _field_rows,
    "follows": _follow_rows,
    "joined": _joined_rows,
    "links": _link_rows,
    "past_the_end": _end_rows,
    "result": _result_rows,
    "secrets": _secret_rows,
    "states": _state_rows,
    "steps": _step_rows,
    "unanswered": _unanswered_rows,
}


# What has one row: its name, and its text.
_TEXTS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "auto": ("as without selectors", ", ".join),
    "fails": ("fields", lambda reason: f"none, as a content page it fails: {reason}"),
    "has_words": ("words", lambda has_words: HAS_WORDS if has_words else LACKS_WORDS),
    "is_whole": ("whole", lambda is_whole: "yes" if is_whole else f"no: {BOUNDS}"),
    "match_text": ("takes", lambda match_text: MATCH_TEXT if match_text else ""),
    "needs_base": ("base", lambda needs_base: NEEDS_BASE if needs_base else ""),
    "passed_by": ("passed by", _as_text),
    "reads": ("reads", lambda reads: DECLARATIONS if reads == "declarations" else _as_text(reads)),
    "rendered_for": ("auto", lambda why: why and f"as it came, {why}; so a browser has rendered it"),
    "searches": ("search", lambda targets: "" if targets is None else "\n".join(map(_request, targets)) or UNSEARCHED),
}
