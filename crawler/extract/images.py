"""Where an image is loaded from: also one that scripts load late, or of which a page has several sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from turbohtml import Element

MAX_SET_CHARACTERS = 20_000  # of a list of sizes
# What scripts read comes first: where it is there, what browsers read is a placeholder.
_ATTRIBUTES = ("data-src", "data-original", "data-lazy-src", "data-srcset", "data-lazy-srcset", "src", "srcset")
_INLINE = "data:"  # begins an image that stands in the page itself, as placeholders do


def source_of(image: Element) -> str:
    """Returns the address of an `<img>`, as written; of several sizes that of the largest, empty for none."""
    return next((address for address in _addresses(image) if address and not address.startswith(_INLINE)), "")


def largest_of(sizes: str) -> str:
    """Returns the address of the largest image of a `srcset`, the first of several; addresses may have commas within.

    Args:
        sizes: Addresses, each with its width or density behind a blank, and a comma between them.
    """
    size_of: dict[str, float] = {}
    address = ""  # whose size comes next
    for word in sizes[:MAX_SET_CHARACTERS].split():
        rest = word
        if address:
            size, comma, rest = word.partition(",")
            size_of[address] = _number(size)
            address = "" if comma else address
        if rest.strip(","):
            address = rest.strip(",")
            size_of.setdefault(address, 1.0)
            address = "" if rest.endswith(",") else address
    return max(size_of, key=size_of.__getitem__, default="")


def _addresses(image: Element) -> Iterator[str]:
    for name in _ATTRIBUTES:
        written = (image.attr(name) or "").strip()
        yield largest_of(written) if name.endswith("srcset") else written
    if (picture := image.closest("picture")) is not None:
        yield from (largest_of(source.attr("srcset") or "") for source in picture.select("source[srcset]"))


def _number(size: str) -> float:
    try:
        return float(size[:-1])
    except ValueError:
        return 0.0
