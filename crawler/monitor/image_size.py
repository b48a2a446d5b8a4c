"""How many pixels an image has, as its head says: a small file may unfold to gigabytes in whoever looks at it."""

from __future__ import annotations

import re
import struct

_JPEG_FRAME = re.compile(rb"\xff[\xc0-\xc3\xc5-\xc7\xc9-\xcb\xcd-\xcf].{3}(.{4})", re.DOTALL)
_AVIF_EXTENT = re.compile(rb"ispe.{4}(.{8})", re.DOTALL)


def pixels(head: bytes) -> int | None:
    """Returns width times height, the most of them where there are several; None: the head doesn't say.

    Args:
        head: The beginning of a PNG, JPEG, GIF, WebP or AVIF file.
    """
    try:
        return max((width * height for width, height in _sizes(head)), default=None)
    except struct.error:
        return None


def _sizes(head: bytes) -> list[tuple[int, int]]:
    if head.startswith(b"\x89PNG"):
        return [struct.unpack(">II", head[16:24])]
    if head.startswith(b"GIF8"):
        return [struct.unpack("<HH", head[6:10])]
    if head.startswith(b"\xff\xd8"):
        return [struct.unpack(">HH", size) for size in _JPEG_FRAME.findall(head)]
    if head.startswith(b"RIFF"):
        return [_webp_size(head)]
    return [struct.unpack(">II", size) for size in _AVIF_EXTENT.findall(head)]


def _webp_size(head: bytes) -> tuple[int, int]:
    """Returns a WebP's size, by each of the three forms of its first chunk."""
    match head[12:16]:
        case b"VP8X":
            return int.from_bytes(head[24:27], "little") + 1, int.from_bytes(head[27:30], "little") + 1
        case b"VP8L":
            bits = int.from_bytes(head[21:25], "little")
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case _:
            width, height = struct.unpack("<HH", head[26:30])
            return width & 0x3FFF, height & 0x3FFF
