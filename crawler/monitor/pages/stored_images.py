"""Images of items, from the media store alone: no browser of a person asks a crawled host for anything."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.responses import FileResponse

from crawler import config
from crawler.monitor.guard import RefusedRequestError
from crawler.monitor.image_size import pixels

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.responses import Response

    from crawler.monitor.web import WebRequest

is_stored_name = re.compile(
    r"[0-9a-f]{2}/[0-9a-f]{64}(\.[a-z0-9]{1,8})?"
).fullmatch  # as the media pipeline names files
MAX_PIXELS = 50_000_000  # most pixels of an image: a small file may unfold to gigabytes in whoever looks at it
HEAD_BYTES = 65_536  # how much of a file's beginning is read to find its width and height
# What a file begins with -> its media type. No other is shown: SVG, for one, is a document with scripts.
MARKS = {
    re.compile(rb"\x89PNG\r\n\x1a\n"): "image/png",
    re.compile(rb"\xff\xd8\xff"): "image/jpeg",
    re.compile(rb"GIF8[79]a"): "image/gif",
    re.compile(rb"RIFF....WEBP", re.DOTALL): "image/webp",
    re.compile(rb"....ftypavi[fs]", re.DOTALL): "image/avif",
}
# A header beside those that all answers carry: an image that is opened by itself is in a place of its own, where
# nothing runs.
POLICY = {"content-security-policy": "default-src 'none'; sandbox"}


async def show(web: WebRequest) -> Response:
    """Sends an image of the media store."""
    path = web.parameter("path")
    if not is_shown(web.monitor.settings, path):
        raise RefusedRequestError(404, "error.nothing")
    folder = Path(config.FILES_STORE.of(web.monitor.settings))
    media_type = await asyncio.to_thread(_media_type, folder, path)
    if media_type is None:
        raise RefusedRequestError(404, "error.nothing")
    return FileResponse(folder / path, media_type=media_type, headers=POLICY)


def is_shown(settings: Mapping[str, Any], path: Any) -> bool:
    """Returns whether a path can be that of a file in a media store that is a folder."""
    store = config.FILES_STORE.of(settings)
    return bool(store) and "://" not in store and isinstance(path, str) and is_stored_name(path) is not None


def _media_type(folder: Path, path: str) -> str | None:
    """Returns the media type of an image; None: it is none, isn't there, lies elsewhere, or is too large."""
    file = folder / path
    try:
        if not file.resolve(strict=True).is_relative_to(folder.resolve(strict=True)):
            return None
        with file.open("rb") as opened:
            head = opened.read(HEAD_BYTES)
    except OSError:
        return None
    if (pixels(head) or 0) > MAX_PIXELS:
        return None
    return next((media_type for mark, media_type in MARKS.items() if mark.match(head)), None)
