"""Random spiders with all that belongs to them, and what a crawl of one comes to.

A `World` is plain data, as Hypothesis draws it: pages with their answers, what callbacks and errbacks do with them,
middlewares, pipelines and settings. `observe` crawls it on one of the engines.

Every wait is as long as its place in the crawl says (`_wait_s`), and no two are equally long. So whatever two things
wait for, one is over before the other, and both engines have to do what is next in the same order.
"""

from __future__ import annotations

import asyncio
import zlib
from collections import Counter, defaultdict
from dataclasses import dataclass

from fast.virtual_crawl import SHORT_WAY, TICKS_A_SECOND, StalledError, crawl
from hypothesis import strategies as st
from scrapy import Request, Spider, exceptions, signals
from scrapy.http import TextResponse
from scrapy.settings import default_settings

ORIGIN = "http://a.test"
PAGES = 5
VISITS = 2  # of a page, after which its callback yields an item alone, so that every crawl ends
SIGNALS = (
    "engine_started",
    "engine_stopped",
    "spider_opened",
    "spider_idle",
    "spider_closed",
    "spider_error",
    "request_scheduled",
    "request_dropped",
    "request_reached_downloader",
    "request_left_downloader",
    "response_received",
    "response_downloaded",
    "item_scraped",
    "item_dropped",
    "item_error",
)
ERRORS = {
    "value": ValueError,
    "timeout": exceptions.DownloadTimeoutError,
    "reset": exceptions.DownloadFailedError,
    "refused": exceptions.DownloadConnectionRefusedError,
    "unresolved": exceptions.CannotResolveHostError,
    "truncated": exceptions.ResponseDataLossError,
    "os": OSError,
    "ignore": exceptions.IgnoreRequest,
    "drop": exceptions.DropItem,
    "close": exceptions.CloseSpider,
}
VARYING_STATS = ("time", "memusage", "per_minute")  # in the names of statistics that differ between any two crawls


# -- What is drawn ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Link:
    """A request for a page."""

    page: int
    kind: str = "plain"  # or "meta": with the meta of the answer; "copy", "replace": made of the answer's request
    errback: bool = False
    priority: int = 0
    dont_filter: bool = False
    word: str = ""  # in cb_kwargs


@dataclass(frozen=True)
class Code:
    """A callback or an errback."""

    kind: str = "generator"
    steps: tuple = ()


@dataclass(frozen=True)
class Page:
    """What is answered, the last of it again and again, and what the spider does with it."""

    answers: tuple = (200,)
    callback: Code = Code()
    errback: Code = Code()


@dataclass(frozen=True)
class Rule:
    """What a component does at one hook, for the pages or items of a number, as often as `times`."""

    hook: str
    action: object
    page: int
    times: int = 1
    waits: bool = False


@dataclass(frozen=True)
class World:
    """A whole crawl."""

    pages: tuple
    start: tuple
    downloader_middlewares: tuple = ()
    spider_middlewares: tuple = ()
    pipelines: tuple = ()
    settings: tuple = ()
    short_way: bool = False  # without Scrapy's middleware that processes input: the fast engine calls callbacks itself
    requests_at_once: int = 1

    @property
    def starts_with_items(self):
        """Whether the spider may yield items before there is any answer."""
        added = [rule for rules in self.spider_middlewares for rule in rules if rule.action == "add"]
        return bool(added) or "item" in self.start


_pages = st.integers(0, PAGES - 1)
_links = st.builds(
    Link,
    page=_pages,
    kind=st.sampled_from(["plain", "plain", "meta", "copy", "replace"]),
    errback=st.booleans(),
    priority=st.sampled_from([0, 0, 1, -1]),
    dont_filter=st.booleans(),
    word=st.sampled_from(["", "a"]),
)
_errors = st.sampled_from(["value", "os", "timeout", "ignore", "close"])
_steps = st.one_of(
    st.just("item"),
    st.just("item"),
    _links,
    _links,
    st.just("wait"),
    st.just("none"),
    st.just("junk"),
    st.builds(lambda link: ("twice", link), _links),
    st.builds(lambda name: ("raise", name), st.sampled_from(["value", "os", "drop", "ignore", "close"])),
    st.just("many"),
)
_codes = st.builds(
    Code,
    kind=st.sampled_from(["list", "generator", "generator", "coroutine", *["async generator"] * 3, "one", "nothing"]),
    steps=st.tuples(
        st.sampled_from([("item", "wait"), ("wait", "item"), ("item",), ()]), st.lists(_steps, max_size=5).map(tuple)
    ).map(lambda steps: steps[0] + steps[1]),
)
_answers = st.one_of(
    *[st.just(200)] * 4,
    st.sampled_from([404, 500, 503, "empty", "big"]),
    st.builds(lambda page: ("moved", page), _pages),
    st.sampled_from(["timeout", "reset", "refused", "unresolved", "truncated", "value"]),
)
_world_pages = st.builds(
    Page, answers=st.lists(_answers, min_size=1, max_size=3).map(tuple), callback=_codes, errback=_codes
)
_start = st.tuples(
    _links,
    _links,
    st.lists(
        st.one_of(*[_links] * 4, st.sampled_from(["wait", "item", ("raise", "value"), ("raise", "close")])), max_size=3
    ),
).map(lambda start: (*start[:2], *start[2]))
_settings = st.sampled_from(
    [
        ("CONCURRENT_ITEMS", 1),
        ("CONCURRENT_ITEMS", 2),
        ("RETRY_TIMES", 1),
        ("RETRY_TIMES", 0),
        ("DEPTH_LIMIT", 2),
        ("DEPTH_PRIORITY", 1),
        ("DEPTH_PRIORITY", -1),
        ("DOWNLOAD_DELAY", 0.5),
        ("DOWNLOAD_DELAY", 7),
        ("CONCURRENT_REQUESTS_PER_DOMAIN", 1),
        ("HTTPERROR_ALLOW_ALL", True),
        ("SCRAPER_SLOT_MAX_ACTIVE_SIZE", 1),
        ("CLOSESPIDER_ITEMCOUNT", 4),
        ("CLOSESPIDER_ERRORCOUNT", 2),
        ("REDIRECT_ENABLED", False),
    ]
)


def _rules(hooks, actions, max_size):
    rule = st.builds(
        Rule,
        hook=st.sampled_from(hooks),
        action=actions,
        page=_pages,
        times=st.integers(1, 2),
        waits=st.booleans(),
    )
    return st.lists(st.lists(rule, min_size=1, max_size=3).map(tuple), max_size=max_size).map(tuple)


WORLDS = st.builds(
    World,
    pages=st.lists(_world_pages, min_size=PAGES, max_size=PAGES).map(tuple),
    start=_start,
    downloader_middlewares=_rules(
        ["process_request", "process_response", "process_exception"],
        st.one_of(
            st.sampled_from(["none", "response", "junk"]),
            st.builds(lambda page: ("request", page), _pages),
            st.builds(lambda name: ("raise", name), _errors),
        ),
        2,
    ),
    spider_middlewares=_rules(
        ["process_spider_input", "process_spider_output", "process_spider_exception", "process_start"],
        st.one_of(
            st.sampled_from(["drop items", "drop requests", "add", "recover"]),
            st.builds(lambda name: ("raise", name), _errors),
        ),
        2,
    ),
    pipelines=_rules(
        ["process_item"],
        st.one_of(
            st.sampled_from(["none", "change"]),
            st.builds(lambda name: ("raise", name), st.sampled_from(["value", "drop", "close", "os"])),
        ),
        2,
    ),
    settings=st.lists(_settings, max_size=3).map(tuple),
    short_way=st.booleans(),
    requests_at_once=st.sampled_from([1, 1, 1, 3]),
)


# -- The crawl ----------------------------------------------------------------------------------------------------


def _wait_s(*place):
    """Returns how long is waited at a place: 0.25 to 1.25 s of virtual time, no two alike."""
    return 0.25 + zlib.crc32(repr(place).encode()) % TICKS_A_SECOND / TICKS_A_SECOND


def _page_of(url):
    return int(url.partition("?")[0].rpartition("/")[2])


class Record:
    """What happened in a crawl, and when."""

    def __init__(self):
        self.events = []
        self.counts = Counter()

    def say(self, who, what, subject=""):
        self.events.append((round(asyncio.get_running_loop().time(), 6), who, what, str(subject)))

    def nth(self, *what):
        """Returns how often it was asked for the same before."""
        self.counts[what] += 1
        return self.counts[what] - 1

    async def wait(self, *place):
        await asyncio.sleep(_wait_s(*place, self.nth("wait", *place)))


class RandomSpider(Spider):
    """Does what its world says."""

    name = "random"
    world = None
    record = None

    # -- The web --------------------------------------------------------------------------------------------------

    async def answer(self, request):
        number = _page_of(request.url)
        answers = self.world.pages[number].answers
        nth = self.record.nth("answer", number)
        answer = answers[min(nth, len(answers) - 1)]
        await asyncio.sleep(_wait_s("answer", number, nth))
        if answer in ERRORS:
            raise ERRORS[answer](f"of page {number}")
        headers, status, body = {"Content-Type": "text/html"}, 200, b"<html>"
        match answer:
            case ("moved", to):
                status, headers["Location"] = 302, f"{ORIGIN}/{to}?moved"
            case "empty":
                body = b""
            case "big":
                body = b" " * 10_000
            case _:
                status = answer
        return TextResponse(request.url, status=status, headers=headers, body=body)

    # -- Requests and code ----------------------------------------------------------------------------------------

    async def start(self):
        for number, step in enumerate(self.world.start):
            async for output in self._taken(step, None, ("start", number)):
                yield output

    def request(self, link, response):
        url = f"{ORIGIN}/{link.page}"
        code = self.world.pages[link.page]
        rest = {
            "callback": getattr(self, "callback_" + code.callback.kind.replace(" ", "_")),
            "errback": getattr(self, "errback_" + code.errback.kind.replace(" ", "_")) if link.errback else None,
            "priority": link.priority,
            "dont_filter": link.dont_filter,
            "cb_kwargs": {"word": link.word} if link.word else {},
        }
        answered = getattr(response, "request", None)
        if answered is None or link.kind == "plain":
            return Request(url, **rest)
        if link.kind == "meta":
            return Request(url, **rest, meta=answered.meta)
        if link.kind == "copy":
            return answered.copy()
        return answered.replace(url=url, **rest)

    def visit_of(self, kind, result):
        """Returns the steps of a callback or errback, with a name for its run."""
        number = _page_of(result.request.url)
        nth = self.record.nth(kind, number)
        steps = getattr(self.world.pages[number], kind).steps if nth < VISITS else ("item",)
        name = (kind, number, nth)
        self.record.say("spider", f"begins {name}", result.request.url)
        return steps, name

    def _plain(self, step, response, name):
        """Yields what a step comes to where nothing can be waited for."""
        match step:
            case "item":
                yield {"item": str(name)}
            case "none":
                yield None
            case "junk":
                yield 5
            case "many":
                for number in range(30):
                    self.record.say("spider", f"many {number}", name)
                    yield {"item": f"{name} {number}"}
            case Link():
                yield self.request(step, response)
            case ("twice", link):
                request = self.request(link, response).replace(dont_filter=False)
                yield request
                yield request
            case ("raise", error):
                raise ERRORS[error](f"of {name}")

    async def _taken(self, step, response, name):
        match step:
            case "wait":
                await self.record.wait(name)
            case _:
                for output in self._plain(step, response, name):
                    yield output

    def _outputs(self, kind, result):
        steps, name = self.visit_of(kind, result)
        for number, step in enumerate(steps):
            self.record.say("spider", f"step {number}", name)
            yield from self._plain(step, result, (*name, number))
        self.record.say("spider", "ends", name)

    async def _async_outputs(self, kind, result):
        steps, name = self.visit_of(kind, result)
        for number, step in enumerate(steps):
            self.record.say("spider", f"step {number}", name)
            async for output in self._taken(step, result, (*name, number)):
                yield output
        self.record.say("spider", "ends", name)


def _functions(kind):
    """Returns the callback or errback of each kind of function."""

    def as_list(self, result, word=""):
        return list(self._outputs(kind, result))

    def as_generator(self, result, word=""):
        yield from self._outputs(kind, result)

    async def as_coroutine(self, result, word=""):
        return [output async for output in self._async_outputs(kind, result)]

    async def as_async_generator(self, result, word=""):
        async for output in self._async_outputs(kind, result):
            yield output

    def as_one(self, result, word=""):
        return next(self._outputs(kind, result), None)

    def as_nothing(self, result, word=""):
        self.visit_of(kind, result)

    return {
        f"{kind}_{name}": function
        for name, function in {
            "list": as_list,
            "generator": as_generator,
            "coroutine": as_coroutine,
            "async_generator": as_async_generator,
            "one": as_one,
            "nothing": as_nothing,
        }.items()
    }


for _kind in ("callback", "errback"):
    for _name, _function in _functions(_kind).items():
        setattr(RandomSpider, _name, _function)


# -- Components ---------------------------------------------------------------------------------------------------


class Component:
    """A middleware or pipeline that follows rules."""

    rules = ()

    def __init__(self, crawler):
        self.record = crawler.spider.record

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def action(self, hook, page, subject):
        """Returns the rule for a call, None without one; writes down that the hook was called."""
        self.record.say(f"{type(self).__name__} {hook}", "called", subject)
        for number, rule in enumerate(self.rules):
            is_meant = rule.hook == hook and rule.page == page
            if is_meant and self.record.nth("rule", type(self).__name__, number) < rule.times:
                return rule
        return None

    async def pause(self, rule, subject):
        if rule.waits:
            await self.record.wait(type(self).__name__, rule.hook, str(subject))


def _raised(rule):
    """Raises what a rule says; returns its action if that is something else."""
    match rule.action:
        case ("raise", error):
            raise ERRORS[error](f"of {rule.hook}")
    return rule.action


class RandomDownloaderMiddleware(Component):
    """A downloader middleware."""

    async def process_request(self, request):
        return await self._do("process_request", request, None)

    async def process_response(self, request, response):
        return await self._do("process_response", request, response)

    async def process_exception(self, request, exception):
        return await self._do("process_exception", request, None, type(exception).__name__)

    async def _do(self, hook, request, default, detail=""):
        rule = self.action(hook, _page_of(request.url), f"{request.url} {detail}")
        if rule is None:
            return default
        await self.pause(rule, request.url)
        match _raised(rule):
            case "response":
                return TextResponse(request.url, status=203, body=b"made up")
            case "junk":
                return 5
            case ("request", page):
                return request.replace(url=f"{ORIGIN}/{page}?instead", dont_filter=True)
        return default


class OutputMiddleware(Component):
    """A spider middleware that only filters what callbacks yield and what the spider starts with."""

    async def process_spider_output(self, response, result):
        page = _page_of(response.request.url)
        rule = self.action("process_spider_output", page, response.url)
        async for output in self._filtered(rule, result, response.url):
            yield output

    async def process_start(self, start):
        rule = self.action("process_start", 0, "")
        async for output in self._filtered(rule, start, "start"):
            yield output

    async def _filtered(self, rule, outputs, subject):
        if rule and rule.action == "add":
            yield {"item": f"added by {type(self).__name__} at {subject}"}
        async for output in outputs:
            if rule:
                await self.pause(rule, subject)
                if rule.action == "drop items" and isinstance(output, dict):
                    continue
                if rule.action == "drop requests" and isinstance(output, Request):
                    continue
            yield output
        if rule:
            _raised(rule)


class EveryMiddleware(OutputMiddleware):
    """A spider middleware that also processes input and exceptions."""

    def process_spider_input(self, response):
        if rule := self.action("process_spider_input", _page_of(response.request.url), response.url):
            _raised(rule)

    def process_spider_exception(self, response, exception):
        page = _page_of(response.request.url)
        rule = self.action("process_spider_exception", page, f"{response.url} {type(exception).__name__}")
        if rule and _raised(rule) in {"recover", "add"}:
            return [{"item": f"recovered by {type(self).__name__}"}]
        return None


class RandomPipeline(Component):
    """An item pipeline; its rules are for every fifth item of those it sees."""

    async def process_item(self, item):
        name = item["item"] if isinstance(item, dict) else item
        rule = self.action("process_item", zlib.crc32(str(name).encode()) % PAGES, name)
        if rule:
            await self.pause(rule, name)
            if _raised(rule) == "change":
                return {"item": f"{name}, changed by {type(self).__name__}"}
        return item


def _components(kind, rules_of_each):
    """Returns a class for each set of rules, by its order."""
    return {
        type(f"{kind.__name__}{number}", (kind,), {"rules": rules}): 500 + 10 * number
        for number, rules in enumerate(rules_of_each)
    }


class SignalRecorder:
    """An extension that records signals."""

    def __init__(self, crawler):
        self.record = crawler.spider.record
        for name in SIGNALS:
            crawler.signals.connect(self._listener(name), signal=getattr(signals, name), weak=False)

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def _listener(self, name):
        def listen(request=None, response=None, item=None, exception=None, failure=None, reason=None):
            of = request if request is not None else getattr(response, "request", None)
            details = [str(item)] if item is not None else []
            details += [type(error).__name__ for error in (exception, failure and failure.value) if error]
            self.record.say(f"signal {name}", " ".join([*details, reason or ""]), of.url if of else "")

        return listen


# -- What a crawl comes to ----------------------------------------------------------------------------------------


# The setting for it has another name since Scrapy 2.19, which warns of the old one.
has_jitter = hasattr(default_settings, "DOWNLOAD_DELAY_JITTER")
EXACT_DELAYS = {"DOWNLOAD_DELAY_JITTER": 0} if has_jitter else {"RANDOMIZE_DOWNLOAD_DELAY": False}


def observe(world, *, fast):
    """Crawls a world on one of the engines; returns all that must be the same on the other.

    Among it is when each signal was sent, each component was called, and the spider came how far, for each in order.
    """
    record = Record()
    spider = type("WorldSpider", (RandomSpider,), {"world": world, "record": record})
    settings = {
        "CONCURRENT_REQUESTS": world.requests_at_once,
        "DOWNLOADER_MIDDLEWARES": _components(RandomDownloaderMiddleware, world.downloader_middlewares),
        "ITEM_PIPELINES": _components(RandomPipeline, world.pipelines),
        "EXTENSIONS": {SignalRecorder: 0},
        **EXACT_DELAYS,
        "LOG_LEVEL": "ERROR",
    } | dict(world.settings)
    kind = OutputMiddleware if world.short_way else EveryMiddleware
    settings["SPIDER_MIDDLEWARES"] = _components(kind, world.spider_middlewares)
    if world.short_way:
        settings["SPIDER_MIDDLEWARES"] |= SHORT_WAY["SPIDER_MIDDLEWARES"]
    crawled = []
    try:
        crawl(spider, settings, fast=fast, prepare=crawled.append)
    except StalledError as error:
        return {"stalled": str(error)}
    crawler = crawled[0]
    assert type(crawler.engine).__name__ == ("LeanEngine" if fast else "ExecutionEngine")
    order = defaultdict(list)
    for time, who, what, subject in record.events:
        order[who].append((time, what, subject))
    return {
        "items": [str(item) for item in crawler.items],
        "stats": {
            name: value
            for name, value in crawler.stats.get_stats().items()
            if not any(varying in name for varying in VARYING_STATS)
        },
        "order": order,
    }
