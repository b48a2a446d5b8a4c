"""Images, videos, a PDF and an endless page: the same bytes in every process."""

from __future__ import annotations

import struct
import zlib
from functools import cache
from importlib.resources import files

IMAGE_WIDTH, IMAGE_HEIGHT = 48, 36  # pixels; a picture has 5 kB
BIG_BYTES = 50_000_000  # more than the crawler takes of a page
_BIG_LINE = b"<p>The river does not end, and neither does this page, or so it seems.</p>\n"


def image(image_id: int) -> bytes:
    """Returns a PNG with a colour gradient of its own; uncompressed, so that zlib's version makes no difference."""
    red, green, blue = image_id * 7 % 256, image_id * 31 % 256, image_id // 8 % 256
    rows = b"".join(
        b"\0" + b"".join(bytes((red, (green + 5 * x) % 256, (blue + 7 * y) % 256)) for x in range(IMAGE_WIDTH))
        for y in range(IMAGE_HEIGHT)
    )
    header = struct.pack(">IIBBBBB", IMAGE_WIDTH, IMAGE_HEIGHT, 8, 2, 0, 0, 0)  # 8 bits a channel, RGB
    note = b"Comment\0" + str(image_id).encode()  # two ids of one colour still differ
    chunks = ((b"IHDR", header), (b"tEXt", note), (b"IDAT", zlib.compress(rows, 0)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_png_chunk(name, data) for name, data in chunks)


def video(video_id: int) -> bytes:
    """Returns two seconds of H.264 in MP4: one clip for all ids, and the id in a `free` box, which players skip."""
    note = str(video_id).encode()
    return _clip() + struct.pack(">I4s", 8 + len(note), b"free") + note


def not_html(title: str) -> bytes:
    """Returns a PDF of one page, without the cross-references that readers can rebuild; no encoding makes it text."""
    return (
        b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\x00\xff\xfe\n% "
        + title.encode()
        + b"""
1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj
2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj
3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]>> endobj
trailer <</Root 1 0 R>>
%%EOF
"""
    )


class BigPage:
    """A file of `BIG_BYTES` that is never in memory as a whole."""

    def __init__(self) -> None:
        self._left_bytes = BIG_BYTES

    def read(self, size: int) -> bytes:
        """Returns the next `size` bytes at most; empty at the end."""
        size = min(size, self._left_bytes)
        self._left_bytes -= size
        return (_BIG_LINE * (size // len(_BIG_LINE) + 1))[:size]

    def close(self) -> None:
        """Ends the file."""
        self._left_bytes = 0


@cache
def _clip() -> bytes:
    return (files("testbed.forum") / "clip.mp4").read_bytes()


def _png_chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
