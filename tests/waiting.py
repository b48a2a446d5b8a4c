"""Waiting for what other processes do."""

from __future__ import annotations

import asyncio
import time

import psutil

PATIENCE_SECONDS = 60.0  # longer than anything takes on a loaded machine: only a failure is as slow
POLL_SECONDS = 0.02


def until(condition, what, seconds=PATIENCE_SECONDS, poll_seconds=POLL_SECONDS):
    """Waits until `condition()` is true, and returns what it gave.

    Args:
        condition: Called again and again.
        what: Said when it never came true.
        seconds: The longest wait.
        poll_seconds: Between two calls; a condition that costs much is asked less often.
    """
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited {seconds:g} s in vain for {what}"
        time.sleep(poll_seconds)
    return found


async def eventually(condition, what="its condition", seconds=PATIENCE_SECONDS):
    """Waits as `until`, beside an event loop that goes on."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds:g} s in vain for {what}"
        await asyncio.sleep(POLL_SECONDS)


def has_ended(pid):
    """Returns whether a process has ended; it may be a zombie that waits for its parent."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
