"""The size of an image by its head, of each format that is shown."""

from __future__ import annotations

import struct

import pytest

from crawler.monitor.image_size import pixels

SIZE = (30_000, 2_000)


@pytest.mark.parametrize(
    "head",
    [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", *SIZE),
        b"GIF89a" + struct.pack("<HH", *SIZE),
        b"\xff\xd8\xff\xe0\0\x04ab\xff\xc2\0\x11\x08" + struct.pack(">HH", *reversed(SIZE)),
        b"RIFF....WEBPVP8X....\0\0\0\0" + b"".join((side - 1).to_bytes(3, "little") for side in SIZE),
        b"RIFF....WEBPVP8 ....\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 12_000, 5_000),
        b"RIFF....WEBPVP8L....\x2f" + (11_999 | 4_999 << 14).to_bytes(4, "little"),
        b"....ftypavif....ispe\0\0\0\0" + struct.pack(">II", *SIZE),
    ],
    ids=["png", "gif", "jpeg", "webp", "webp-lossy", "webp-lossless", "avif"],
)
def test_each_format_says_its_size(head):
    assert pixels(head) == 60_000_000
