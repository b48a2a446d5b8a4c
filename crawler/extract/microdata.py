"""What a page says of itself in attributes: its microdata (https://html.spec.whatwg.org/multipage/microdata.html).

turbohtml reads it, too, but follows `itemref` and repeats the text of properties within properties without a bound: a
page of 3 kB can become a gigabyte. Here each element counts once for one item, and what is over a bound is left out; so
is what an item takes from elsewhere by `itemref`, which next to no page does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import turbohtml

MAX_ELEMENTS = 2_000  # items and properties that are looked at; their ancestors are walked in C
MAX_LEVELS = 8  # of items within items; an author's name is on the second or third
MAX_CHARACTERS = 2_000_000  # of all texts together; those of properties within each other are counted each time
# Where an element's value is, if it isn't its text.
_VALUE_ATTRIBUTES = {
    "meta": "content",
    **dict.fromkeys(("audio", "embed", "iframe", "img", "source", "track", "video"), "src"),
    **dict.fromkeys(("a", "area", "link"), "href"),
    "object": "data",
    **dict.fromkeys(("data", "meter"), "value"),
}


def microdata(tree: turbohtml.Document, besides: str = "template") -> list[dict[str, Any]]:
    """Returns the items of a page that stand in no other one, in its order, as JSON-LD would have them.

    An item has `@type`, the last part of each of its types' names (a text, or a list unless it is one), and for each
    property a text or an item, or a list of several.

    Args:
        tree: The page.
        besides: Finds what is left out, with all that is in it.
    """
    items: dict[turbohtml.Element, tuple[dict[str, Any], int]] = {}  # each with its level
    outer: list[dict[str, Any]] = []
    characters = 0
    for element in tree.select("[itemscope], [itemprop]")[:MAX_ELEMENTS]:
        if element.closest(besides) is not None:
            continue
        names = dict.fromkeys((element.attr("itemprop") or "").split())
        around = element.parent.closest("[itemscope]") if names and element.parent is not None else None
        item, level = items.get(around, ({}, 0)) if around is not None else ({}, 0)
        value: str | dict[str, Any]
        if element.attr("itemscope") is not None:
            value = {"@type": _type_of(element)}
            if level < MAX_LEVELS:
                items[element] = value, level + 1
            if not names:
                outer.append(value)
        else:
            value = _text_of(element)
            characters += len(value)
            if characters > MAX_CHARACTERS:
                break
        for name in names:
            _add(item, name, value)
    return outer


def _type_of(element: turbohtml.Element) -> str | list[str]:
    types = [name.rpartition("/")[2] for name in (element.attr("itemtype") or "").split()]
    return types[0] if len(types) == 1 else types


def _text_of(element: turbohtml.Element) -> str:
    """Returns the value of a property that is no item."""
    if attribute := _VALUE_ATTRIBUTES.get(element.tag):
        return (element.attr(attribute) or "").strip()
    if element.tag == "time" and (written := element.attr("datetime")) is not None:
        return written
    return element.text


def _add(item: dict[str, Any], name: str, value: str | dict[str, Any]) -> None:
    if name not in item:
        item[name] = value
    elif isinstance(item[name], list):
        item[name].append(value)
    else:
        item[name] = [item[name], value]
