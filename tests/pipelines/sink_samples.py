"""Pages, settings and an outage recorder for the sinks' tests."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

from crawler.models import Media, Page
from crawler.pipelines.batch import Hooks

SETTINGS = {"SINK_BATCH": 100, "SINK_WAIT_SECONDS": 0.01, "SINK_RETRY_MAX_SECONDS": 0.5, "FILES_FSYNC": False}


def page(number: int = 1, **fields: Any) -> Page:
    """A page as extraction, cleaning and media leave it."""
    values: dict[str, Any] = {
        "id": str(uuid.uuid5(uuid.NAMESPACE_URL, str(number))),
        "content": f"洪水 message {number}",
        "resource": "demo_forum",
        "url": f"https://forum.example/thread/{number}",
        "time": "2026-11-21T14:00:00Z",
        "title": f"Thread {number}",
        "author": "Zhang San",
        "published": "2026-11-20T08:30:00Z",
        "images": [Media("https://forum.example/a.png", "full/a.png", "ab" * 32, 1_234)],
        "videos": [Media("https://forum.example/b.mp4", error="http-404")],
        "extra": {"board": "water", "replies": 3},
        "plan": "flood-2026",
        "keywords": ["重庆", "洪水"],
        "language": "zh",
        "sha256": "cd" * 32,
        "node": "node-1",
        "fingerprint": f"{number:032x}",
    }
    return Page(**{**values, **fields})


class Outages:
    """Hooks that record what they are told."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.stopping = False
        self.down, self.up = asyncio.Event(), asyncio.Event()

    @property
    def hooks(self) -> Hooks:
        return Hooks(self._down, self._up, lambda: self.stopping)

    def _down(self, name: str) -> None:
        self.told.append(f"{name} down")
        self.down.set()

    def _up(self, name: str) -> None:
        self.told.append(f"{name} up")
        self.up.set()
