"""How Chromium is found on this machine, and started so that it can reach nobody.

Two guards stand beside each other, and each keeps a page in by itself: a network namespace in which there is nothing,
not even loopback, where this user may make one; and switches by which Chromium has a proxy that nobody listens at for
all it sends, finds no name, and sends no UDP. What a page asks for through HTTP never gets so far: interception.py.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from crawler.render.errors import BrowserMissingError

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome", "chromium-headless-shell")
NAMESPACE_SECONDS = 5.0  # how long `unshare` may take, which takes some ms
# The user stays who it is in the namespace: as its root, Chromium would refuse to run with its sandbox.
UNSHARE = ("unshare", "--map-current-user", "--net", "--")
# The kernel kills Chromium when what started it dies; should it be asked too late, the closed pipe ends it.
END_WITH_PARENT = ("setpriv", "--pdeathsig", "KILL", "--")

NO_WAY_OUT = (
    "--proxy-server=127.0.0.1:1",  # nobody listens at port 1, and Chromium itself refuses it as unsafe
    "--proxy-bypass-list=<-loopback>",  # loopback goes through the proxy, too
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--disable-quic",  # QUIC goes past proxies
    # With `force-` in front, as it was once called, it does nothing, and WebRTC asks STUN servers.
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
)
# What Chromium can do beyond pages, and would ask its maker's servers for; each is off.
UNUSED_FEATURES = (
    "AimEnabled",
    "HttpsFirstBalancedModeAutoEnable",  # the crawl says which scheme an address has
    "HttpsUpgrades",
    "MediaRouter",  # it looks for screens in the local network
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PreconnectToSearch",
    "Translate",
    # Aborts redirects of requests with a preflight while they are intercepted (Chromium 155).
    "AvoidCorsURLLoaderRestartOnRedirect",
)
SWITCHES = (
    "--headless",
    "--remote-debugging-pipe",  # no port that others on this machine could reach
    "--no-startup-window",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",  # /dev/shm has 64 MB in containers, and a page that fills it would crash others
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-search-engine-choice-screen",
    "--disable-sync",
    "--no-pings",
    "--password-store=basic",
    "--use-mock-keychain",
    "--mute-audio",
    "--hide-scrollbars",
    "--disable-gpu",
    "--disable-back-forward-cache",  # pages that were left would run on
    # Pages are never in front, and run no slower for it.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-hang-monitor",  # who hangs is judged here
    # A page and its frames share one process: it has a context to itself, so there is no other page's data in it.
    "--disable-site-isolation-trials",
    "--disk-cache-size=1",  # what is intercepted isn't cached
)


@dataclass(frozen=True, slots=True)
class Guards:
    """Which of the guards keep pages in; a crawl has all that the machine allows.

    Attributes:
        has_namespace: The browser has a network namespace of its own.
        has_switches: The browser is told to use a closed proxy.
    """

    has_namespace: bool
    has_switches: bool = True


def find(path: str) -> str:
    """Returns where Chromium is.

    Args:
        path: Where the setting BROWSER_PATH says that it is; empty: it has one of its usual names on PATH.

    Raises:
        BrowserMissingError: It isn't there.
    """
    for name in (path,) if path else NAMES:
        if executable := shutil.which(name):
            return executable
    where = f"BROWSER_PATH names {path}, which can't be run" if path else f"none of {', '.join(NAMES)} is on PATH"
    raise BrowserMissingError(f"no browser: {where}; install Chromium, such as Debian's package `chromium`")


def why_no_browser(path: str) -> str:
    """Returns what keeps this node from rendering; empty: nothing that can be seen before a browser is started.

    Args:
        path: The setting BROWSER_PATH.
    """
    if find_spec("playwright") is None:
        return "no Playwright: install Headroom's extra `browser`"
    try:
        find(path)
    except BrowserMissingError as error:
        return str(error)
    return ""


async def may_have_namespace() -> bool:
    """Returns whether this user may make a network namespace."""
    if not all(map(shutil.which, (UNSHARE[0], END_WITH_PARENT[0]))):
        return False
    silent = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(*UNSHARE, "true", stdin=silent, stdout=silent, stderr=silent)
    try:
        async with asyncio.timeout(NAMESPACE_SECONDS):
            return await process.wait() == 0
    except TimeoutError:
        process.kill()
        await process.wait()
        return False


def command(path: str, folder: Path, guards: Guards) -> list[str]:
    """Returns the command that starts a browser whose profile is in this folder."""
    unshare, end_with_parent = (shutil.which(program) for program in (UNSHARE[0], END_WITH_PARENT[0]))
    features = f"--disable-features={','.join(UNUSED_FEATURES)}"
    return [
        *((unshare, *UNSHARE[1:]) if guards.has_namespace and unshare else ()),
        *((end_with_parent, *END_WITH_PARENT[1:]) if end_with_parent else ()),
        path,
        *SWITCHES,
        features,
        *(NO_WAY_OUT if guards.has_switches else ()),
        *(() if os.geteuid() else ("--no-sandbox",)),  # Chromium has none for root
        f"--user-data-dir={folder / 'profile'}",
    ]


def environment(folder: Path) -> dict[str, str | float | bool]:
    """Returns the browser's environment: nothing of the worker's, which may hold secrets, but where programs are."""
    home = str(folder)
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
        **dict.fromkeys(("HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"), home),
    }
