"""Explores a page of which nothing is known: what shows only once something is clicked, and by which clicks.

States of the page are told apart by what is visible: the elements' names and texts, numbers aside, since clocks change
them. In each new state each element that looks as if a click did something, and that was seen in no state before, is
clicked; then the page is loaded anew, and the clicks that led to the state are repeated. So n elements take some n
clicks, not the 2^n states in which n panels may be open or shut.
"""

from __future__ import annotations

import hashlib
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.base.models import REDIRECTION
from crawler.render.errors import StepFailedError
from crawler.render.exchange import PageAnswer
from crawler.render.player import Player
from crawler.sites.render_step import RenderStep, StepTarget

if TYPE_CHECKING:
    from crawler.render.exchange import Fetch, PageRequest
    from crawler.render.open_page import OpenPage
    from crawler.render.page_view import PageView

CLICK_SECONDS = 3.0  # how long one click may take: what is visible takes it at once
MAX_TEXTS = 20_000  # most texts of one state that are compared
MAX_ELEMENTS = 500  # most elements of one state that are clicked
NO_CONTENT = 204  # a browser that gets this status stays where it is
_NUMBERS = re.compile(r"\d+")
# What isn't clicked, whatever it would show: it may change something, if only who one is.
DANGEROUS = re.compile(
    r"(?<![a-z])(?:log.?(?:out|off)|sign.?(?:out|off)|delete|remove|unsubscribe|buy|pay|order|checkout|vote|submit|send)"
    r"|退出|注销|登出|删除|购买|支付|提交|发送|保存|举报",
    re.IGNORECASE,
)

LOOK = """({texts, elements}) => {
  const seen = (one) => one.checkVisibility({visibilityProperty: true}) && one.getClientRects().length > 0;
  const shown = [], links = [];
  const walker = document.createTreeWalker(document.body || document, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  while (shown.length < texts && walker.nextNode()) {
    const node = walker.currentNode, owner = node.parentElement;
    const text = node.nodeType === Node.TEXT_NODE ? node.data.trim().replace(/\\s+/g, " ") : "";
    if (text && owner && !["SCRIPT", "STYLE", "NOSCRIPT"].includes(owner.tagName) && seen(owner))
      shown.push([owner.tagName, text]);
  }
  for (const link of document.links) if (links.length < texts && seen(link)) links.push(link.href);
  const unique = (css) => document.querySelectorAll(css).length === 1;
  const selector = (one) => {
    const parts = [];
    for (let at = one; at && at !== document.documentElement; at = at.parentElement) {
      if (at.id && unique("#" + CSS.escape(at.id))) return ["#" + CSS.escape(at.id), ...parts].join(" > ");
      const same = [...at.parentElement.children].filter((other) => other.tagName === at.tagName);
      const place = same.length > 1 ? `:nth-of-type(${same.indexOf(at) + 1})` : "";
      parts.unshift(at.tagName.toLowerCase() + place);
    }
    return parts.join(" > ");
  };
  const isClickable = (one) => {
    if (one.closest("form") && one.matches("button:not([type=button]), input")) return false;
    const href = one.closest("a[href]")?.getAttribute("href");
    if (href && !href.startsWith("#") && !href.startsWith("javascript:")) return false;
    if (one.matches("button, summary, [onclick], [role=button], [role=tab], [role=menuitem], [aria-expanded]," +
        "[aria-controls], a[href], input[type=button]")) return true;
    return getComputedStyle(one).cursor === "pointer" && getComputedStyle(one.parentElement).cursor !== "pointer";
  };
  const found = [];
  let isCut = false;
  for (const one of document.body ? document.body.querySelectorAll("*") : []) {
    if (seen(one) && isClickable(one)) {
      isCut = found.length === elements;
      if (isCut) break;
      const said = [one.innerText, one.value, one.title, one.id, one.getAttribute("href"), one.getAttribute("class")];
      found.push({css: selector(one), text: (one.innerText || "").trim().slice(0, 80), said: said.join(" ")});
    }
  }
  return {shown, links, found, isCut};
}"""


@dataclass(frozen=True, slots=True)
class ExplorationLimits:
    """How far a page is explored.

    Attributes:
        depth: Clicks that lead to a state.
        states: That are looked at.
        seconds: For all of it; what is found by then is told.
    """

    depth: int = 3
    states: int = 100
    seconds: float = 120.0


@dataclass(frozen=True, slots=True)
class RevealedState:
    """A state of a page, and what no state before it showed.

    Attributes:
        steps: What leads there; none: the page as it comes.
        texts: In the order of the page.
        links: Likewise.
    """

    steps: tuple[RenderStep, ...]
    texts: tuple[str, ...]
    links: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Exploration:
    """What an exploration has found.

    Attributes:
        states: In the order in which they were found; the first one is the page as it comes.
        clicks: That were tried.
        passed_by: What wasn't clicked since it may change something.
        seconds: What it took.
        is_whole: Whether all that there was to click was tried, within the depth.
    """

    states: tuple[RevealedState, ...]
    clicks: int
    passed_by: tuple[str, ...]
    seconds: float
    is_whole: bool


class ExplorerFetch:
    """Has a page only read, and never leave: other methods than GET are refused, other pages stay unopened.

    What has come once isn't asked for again, so that loading the page anew costs its host nothing.
    """

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self._had: dict[str, PageAnswer] = {}
        self._page = ""

    async def __call__(self, request: PageRequest) -> PageAnswer:
        """Returns the answer to one request of the page."""
        if request.method != "GET":
            return PageAnswer(405, (), b"")
        if request.is_page and request.url != (self._page or request.url):
            return PageAnswer(NO_CONTENT, (), b"")
        if request.url not in self._had:
            self._had[request.url] = answer = await self._fetch(request)
            if request.is_page and answer.status // 100 != REDIRECTION:  # a redirect leads to the page, and isn't it
                self._page = request.url
        return self._had[request.url]


class Explorer:
    """Explores one page."""

    def __init__(self, page: OpenPage, limits: ExplorationLimits) -> None:
        self._page = page
        self._limits = limits
        self._hashes: set[bytes] = set()
        self._texts: set[str] = set()
        self._links: set[str] = set()
        self._elements: set[str] = set()
        self._states: list[RevealedState] = []
        self._at = b""  # the hash of what the page shows now
        # States, each with its hash and what it has to click.
        self._waiting: list[tuple[RevealedState, bytes, list[str]]] = []
        self._passed_by: dict[str, None] = {}
        self._clicks = 0
        self._is_cut = False  # whether a state had more to click than is looked at

    async def explore(self, url: str) -> Exploration:
        """Returns what the page at this address shows by clicks.

        Raises:
            RenderError: It can't be opened.
            PlaywrightError: The page, or the browser, has ended meanwhile.
        """
        started = time.monotonic()
        view = await self._page.open(url)
        await self._look(view, ())
        is_whole = await self._click_all(view, url, started + self._limits.seconds)
        seconds = time.monotonic() - started
        is_whole = is_whole and not self._is_cut
        return Exploration(tuple(self._states), self._clicks, tuple(self._passed_by), seconds, is_whole)

    async def _click_all(self, view: PageView, url: str, until: float) -> bool:
        """Returns whether all that was found could be clicked in time."""
        while self._waiting:
            state, digest, elements = self._waiting.pop(0)
            for css in elements:
                if time.monotonic() > until or len(self._states) >= self._limits.states:
                    return False
                click = RenderStep("click", StepTarget(css=css), timeout_seconds=CLICK_SECONDS)
                self._clicks += 1
                try:
                    is_there, self._at = self._at == digest, b""
                    if not is_there:
                        await self._page.reopen(view, url)
                        await Player(self._page, view).play(state.steps)
                    await Player(self._page, view).play((click,))
                    await self._look(view, (*state.steps, click))
                except StepFailedError:  # it is covered, or gone by now
                    continue
        return True

    async def _look(self, view: PageView, steps: tuple[RenderStep, ...]) -> None:
        """Notes what is shown, if the state is a new one."""
        look = await view.ask(LOOK, {"texts": MAX_TEXTS, "elements": MAX_ELEMENTS})
        shown = "\n".join(f"{tag} {_NUMBERS.sub('0', text)}" for tag, text in look["shown"])
        self._at = digest = hashlib.blake2b(shown.encode("utf-8", "replace"), digest_size=16).digest()
        if digest in self._hashes:
            return
        self._hashes.add(digest)
        texts = dict.fromkeys(text for _, text in look["shown"] if text not in self._texts)
        links = dict.fromkeys(link for link in look["links"] if link not in self._links)
        self._texts.update(texts)
        self._links.update(links)
        state = RevealedState(steps, tuple(texts), tuple(links))
        self._states.append(state)
        elements = [element for element in look["found"] if f"{element['css']} {element['text']}" not in self._elements]
        self._elements.update(f"{element['css']} {element['text']}" for element in elements)
        harmless = []
        for element in elements:
            if DANGEROUS.search(element["said"]):
                self._passed_by[element["text"] or element["css"]] = None
            else:
                harmless.append(element["css"])
        if len(steps) < self._limits.depth:
            self._waiting.append((state, digest, harmless))
            self._is_cut = self._is_cut or look["isCut"]
