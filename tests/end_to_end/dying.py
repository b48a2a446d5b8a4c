"""A Scrapy extension with which a background task of its worker dies of a bug, once a page is asked for."""

from __future__ import annotations

from scrapy import signals

from crawler.worker.worker import Worker


class Dying:
    def __init__(self, crawler):
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler):
        dying = cls(crawler)
        crawler.signals.connect(dying.break_the_beat, signal=signals.request_reached_downloader)
        return dying

    def break_the_beat(self):
        Worker.of(self.crawler).life.headroom.sampler.sample = self.bug

    def bug(self):
        raise KeyError("a bug of ours")
