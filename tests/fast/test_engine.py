"""The same crawl yields the same items, statistics and signals on both engines, the signals in order per request."""

from collections import Counter

import pytest
from fast.conftest import PageHandler

pytestmark = pytest.mark.process


class OddServer(PageHandler):
    """Answers by the path; `/flaky` works at every third try."""

    def do_GET(self):  # noqa: N802 -- as http.server names it
        path = self.path.partition("?")[0]
        status, body, headers = 200, b"<html><body>a page</body></html>", {}
        match path:
            case "/missing":
                status = 404
            case "/moved":
                status, headers = 302, {"Location": "/page?moved"}
            case "/loop":
                status, headers = 301, {"Location": "/loop?" + "x" * (len(self.path) % 7 + 1)}
            case "/busy":
                status = 503
            case "/empty":
                body = b""
            case "/flaky":
                self.server.state[path] += 1
                status = 503 if self.server.state[path] % 3 else 200
        self.answer(status, body, **headers)


@pytest.fixture(scope="module")
def crawls(run_crawls):
    """What each crawl of `odd_crawl.py` yielded."""
    return run_crawls("odd_crawl.py", OddServer, Counter())


@pytest.mark.parametrize("middleware", ["OutputMiddleware", "EveryMiddleware"])
@pytest.mark.parametrize("items_at_once", [1, 8])
def test_an_odd_crawl_is_the_same_on_both_engines(crawls, items_at_once, middleware):
    scrapys, fast = (crawls[f"{items_at_once} {middleware} {is_fast}"] for is_fast in (False, True))
    assert (scrapys.pop("engine"), fast.pop("engine")) == ("ExecutionEngine", "LeanEngine")
    assert scrapys.pop("parts") == ["Downloader", "MemoryStatsCollector", "LogFormatter"]
    assert fast.pop("parts") == ["LeanDownloader", "LeanStats", "LeanLogFormatter"]
    assert len(scrapys["items"]) > 50
    assert fast["items"] == scrapys["items"]
    assert fast["stats"] == scrapys["stats"]
    if items_at_once > 1:  # a page's items overtake each other
        for result in (scrapys, fast):
            result["signals"] = {path: sorted(recorded) for path, recorded in result["signals"].items()}
    assert fast["signals"] == scrapys["signals"]
