"""The browser, for sites whose pages need one: is it there, and what keeps its pages in?"""

from __future__ import annotations

import asyncio
import os
import shutil
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from crawler import config
from crawler.doctor.finding import Finding, advice, ok
from crawler.render import chromium
from crawler.render.errors import BrowserMissingError

if TYPE_CHECKING:
    from collections.abc import Mapping

# How long a program may take that is asked for its version, or for fonts; half a second is the rule.
ANSWER_SECONDS = 3.0


async def browser(settings: Mapping[str, Any]) -> Finding:
    """Looks at what this node renders pages with; none is started."""
    if find_spec("playwright") is None:
        return without("playwright isn't installed: install Headroom with the extra `browser`")
    try:
        path = chromium.find(config.BROWSER_PATH.of(settings))
    except BrowserMissingError as error:
        return without(str(error))
    version = await _said_by(path, "--version")
    if version is None:
        return without(f"{path} doesn't say its version, which each Chromium does; install it anew")
    return judge_browser(
        f"{version} at {path}",
        has_namespace=await chromium.may_have_namespace(),
        is_root=os.geteuid() == 0,
        has_fonts=await _has_fonts(),
    )


def without(why: str) -> Finding:
    """Returns what it means that this node has no browser."""
    return advice(f"no page is rendered here, and this node claims none that must be: {why}")


def judge_browser(program: str, *, has_namespace: bool, is_root: bool, has_fonts: bool) -> Finding:
    """Returns what it means how a browser would run."""
    if is_root:
        return advice(f"{program} runs without its sandbox, since this user is root: run workers as another user")
    if not has_namespace:
        return advice(
            f"{program} has no network namespace of its own, and Chromium's switches alone keep its pages in: install "
            "util-linux, and allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, or "
            "kernel.apparmor_restrict_unprivileged_userns=0)"
        )
    if not has_fonts:
        return advice(f"{program} has no fonts, and screenshots have no letters: install some, such as fonts-noto-core")
    return ok(f"{program}, in a network namespace of its own")


async def _has_fonts() -> bool:
    """Returns whether there are fonts, as far as that can be told."""
    return shutil.which("fc-list") is None or bool(await _said_by("fc-list"))


async def _said_by(*command: str) -> str | None:
    """Returns the first line that a program writes; None: it fails, or says nothing in time."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError:
        return None
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            output, _ = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        return None
    return output.decode(errors="replace").strip().partition("\n")[0] if process.returncode == 0 else None
