"""Runs `scrapy` and looks where its processor time goes: `sampler.py REPORT ARGUMENT...`; for `--profile`.

A signal at each tick of the processor's time makes Python look at its stack. That costs next to nothing, so the shares
are those of an undisturbed run; cProfile counts calls, and makes what calls often look expensive. Time in C counts for
the function that called it. The main thread alone is seen: of what others take, such as Kafka's, only their number of
ticks is known. Counting begins with the first page that is read, so that the start is left out.
"""

from __future__ import annotations

import json
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

TICK_SECONDS = 0.001  # of processor time; kernels round it up to their own tick of up to 10 ms
# Part of a file's name -> stage. The innermost frame that has one counts; the first of these that fits it.
STAGES = {
    "/crawler/extract/language.py": "language",
    "/crawler/extract/": "reading the page",
    "/crawler/sites/": "reading the page",
    "/crawler/text.py": "cleaning texts",
    "/crawler/urls.py": "URLs",
    "/ada_url/": "URLs",
    "/crawler/download/": "download handler",
    "/scrapy/core/downloader/handlers/": "download handler",
    "/aiohttp/": "download handler",
    "/twisted/web/": "download handler",
    "/twisted/internet/": "reactor, Deferreds",
    "/crawler/pipelines/": "pipelines, sinks",
    "/crawler/worker/delivery.py": "pipelines, sinks",
    "/kafka/": "pipelines, sinks",
    "/pymongo/": "pipelines, sinks",
    "/redis/": "Redis client",
    "/crawler/frontier/": "frontier calls",
    "/crawler/fast/": "engine",
    "/scrapy/core/": "engine",
    "/crawler/middlewares/": "middlewares",
    "/scrapy/downloadermiddlewares/": "middlewares",
    "/scrapy/spidermiddlewares/": "middlewares",
    "/crawler/spiders/": "spider",
    "/crawler/": "scheduler, visits, turns",
    "/logging/": "logging",
    "/scrapy/signalmanager.py": "signals, stats",
    "/scrapy/utils/signal.py": "signals, stats",
    "/pydispatch/": "signals, stats",
    "/scrapy/statscollectors.py": "signals, stats",
    "/scrapy/http/": "request, response",
    "/scrapy/": "rest of Scrapy",
    "/asyncio/": "event loop",
}
READING = "reading the page"


class Sampler:
    """Counts ticks by stage and by function."""

    def __init__(self) -> None:
        self.stages: Counter[str] = Counter()
        self.functions: Counter[str] = Counter()
        self._by_file: dict[str, str] = {}
        self._begun = False

    def start(self) -> None:
        """Begins to look."""
        signal.signal(signal.SIGPROF, self._tick)
        signal.siginterrupt(signal.SIGPROF, False)  # noqa: FBT003 -- its only argument
        signal.setitimer(signal.ITIMER_PROF, TICK_SECONDS, TICK_SECONDS)

    def stop(self) -> None:
        """Ends it."""
        signal.setitimer(signal.ITIMER_PROF, 0)

    def _tick(self, _number: int, frame: FrameType | None) -> None:
        if frame is None:
            return
        code, stage = frame.f_code, ""
        while frame is not None and not stage:
            stage = self._stage(frame.f_code.co_filename)
            frame = frame.f_back
        self._begun = self._begun or stage == READING
        if self._begun:
            self.stages[stage or "other"] += 1
            self.functions[f"{'/'.join(Path(code.co_filename).parts[-3:])}: {code.co_qualname}"] += 1

    def _stage(self, file: str) -> str:
        if file not in self._by_file:
            self._by_file[file] = next((stage for part, stage in STAGES.items() if part in file), "")
        return self._by_file[file]


def main() -> None:
    """Runs `scrapy` with the arguments that are left."""
    report = Path(sys.argv[1])
    sys.argv = ["scrapy", *sys.argv[2:]]
    sys.path[0] = str(Path.cwd())  # as `python -m scrapy` has it
    from scrapy.cmdline import execute

    sampler = Sampler()
    sampler.start()
    try:
        execute()
    finally:
        sampler.stop()
        report.write_text(json.dumps({"stages": sampler.stages, "functions": sampler.functions}))


if __name__ == "__main__":
    main()
