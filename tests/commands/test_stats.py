"""`scrapy stats`, on a real Redis."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from commands.answers import error_of, json_of, lines_of

from crawler.servers.redis import redis_sync
from crawler.telemetry import history, host_history, hour_answers
from crawler.telemetry.history import DAY, HOUR
from crawler.telemetry.host_history import HostCounts
from crawler.telemetry.hour_answers import AnswerCounts


@pytest.fixture
def add(operator, redis_url):
    """Returns a function that adds counts, as a worker does, so many seconds ago."""

    async def run(counts, ago_s=0):
        now_s = await operator.registry.now_ms() // 1000
        with redis_sync({"REDIS_URL": redis_url}) as client:
            history.add(client, operator.keys, now_s - ago_s, counts)

    return run


async def test_what_was_done_of_late_is_added_up(scrapy, add):
    await add({"pages": 1_200, "bytes": 34_500_000, "items": 900, "status:200": 1_100, "status:404": 100})
    await add({"failed:http-404": 100, "retried:timeout": 3, "site:news:finished": 900, "site:news:failed": 100})
    await add({"pages": 5}, ago_s=DAY - 3_600)
    lines = lines_of(scrapy("stats"))
    assert lines[0] == "last hour per second now"
    assert lines[1].startswith("pages 1,200 ")
    assert lines[3].startswith("bytes 34.5 MB ")
    for line in ("200 1,100", "404 100", "http-404 100", "timeout 3", "news 900 100"):
        assert line in lines
    day = json_of(scrapy("stats", "--last", "day", "--json"))
    assert day["totals"] == {"pages": 1_205, "items": 900, "bytes": 34_500_000}
    assert day["sites"] == {"news": {"finished": 900, "failed": 100, "content": 0, "items": 0}}
    assert [step["counts"].get("pages") for step in day["steps"] if step["counts"]] == [5, 1_200]
    assert 0 < day["per_second"]["pages"] <= 1_200 / 120


async def test_how_often_filters_of_finished_pages_err(scrapy, operator):
    key = operator.keys.partition(0).of("content", "counts")
    await operator.redis.hset(key, mapping={"filtered": 5, "filter_expected": 2_500_000, "filter_asked": 40_000})
    assert (
        lines_of(scrapy("stats"))[0]
        == "new pages that filters take for finished: 2.5e-06 expected, 0.0e+00 of 40000 measured"
    )
    await operator.redis.hset(key, "filter_erred", 2)
    assert json_of(scrapy("stats", "--json"))["filters"] == ["2.5e-06", "5.0e-05 of 40000"]


async def test_what_is_wrong_now_comes_first(scrapy, add):
    await add({"site:news:failed": 12})
    wrong = "Nothing but failures in the last hour: news. Look at the site, and at its file."
    assert lines_of(scrapy("stats", "--last", "day"))[0] == f"wrong now: {wrong}"
    assert json_of(scrapy("stats", "--json"))["wrong_now"] == [wrong]


def test_where_nothing_was_done_the_totals_are_zero(scrapy):
    assert lines_of(scrapy("stats")) == ["last hour per second now", "pages 0 0", "items 0 0", "bytes 0 B 0 B"]
    assert json_of(scrapy("stats", "--json"))["statuses"] == {}


def test_a_wrong_word_is_refused(scrapy):
    assert error_of(scrapy("stats", "news")) == "scrapy stats takes no arguments"
    assert "--last" in error_of(scrapy("stats", "--last", "year"))


async def test_names_that_act_on_a_terminal_do_not(scrapy, add):
    await add({"failed:\x1b[2J": 1})
    assert "\x1b" not in "".join(lines_of(scrapy("stats")))


async def test_the_metrics_of_the_crawl(scrapy, add):
    await add({"pages": 5})
    printed = scrapy("stats", "--metrics").stdout
    assert "# TYPE headroom_pages_total counter\nheadroom_pages_total 5\n" in printed


async def test_hosts_are_printed_busiest_first_and_inert(scrapy, operator, redis_url):
    now_s = await operator.registry.now_ms() // 1000
    hosts = {"a.test": HostCounts(5, 2_500_000, 1), "b\x1b[2J.test": HostCounts(7, 10, 0)}
    with redis_sync({"REDIS_URL": redis_url}) as client:
        host_history.add(client, operator.keys, now_s, hosts)
    lines = lines_of(scrapy("stats"))
    assert lines[-3:] == ["host pages bytes errors", "b\N{REPLACEMENT CHARACTER}[2J.test 7 10 B 0", "a.test 5 2.5 MB 1"]
    day = json_of(scrapy("stats", "--last", "day", "--json"))
    assert day["hosts"]["a.test"] == {"pages": 5, "bytes": 2_500_000, "errors": 1}


@pytest.fixture
async def hour(operator, redis_url):
    """An hour with three statuses on two hosts; returns its name."""
    begin_s = await operator.registry.now_ms() // 1000 // HOUR * HOUR - 5 * HOUR
    ok = AnswerCounts(8, ok=8, bytes_in=3_600_000, bytes_out=7_200, answer_ms=800, delay_ms=16_000)
    moved = AnswerCounts(
        1, redirects=1, too_many_redirects=1, bytes_in=400, bytes_out=100, answer_ms=20, delay_ms=2_000
    )
    silent = AnswerCounts(1, timeouts=1, bytes_out=90, delay_ms=2_000)
    counts = {
        "status": {"200": ok, "301": moved, "timeout": silent},
        "host": {"a.test": ok + moved, "=b\x1b[2J.test": silent},
        "plan": {"city": ok + moved + silent},
        "node": {"node-1": ok + moved + silent},
    }
    with redis_sync({"REDIS_URL": redis_url}) as client:
        hour_answers.add(client, operator.keys, begin_s + 1_800, counts, DAY)
    return f"{datetime.fromtimestamp(begin_s, UTC):%Y-%m-%dT%H}"


def test_what_came_back_in_an_hour_is_a_table(scrapy, hour):
    lines = lines_of(scrapy("stats", "--hour", hour))
    assert lines[0] == f"what came back in {hour}, UTC"
    assert "all 10 8 1 0 0 1 0 1 3.6 MB 7.39 kB 1 kB 2 B 91 2,000" in lines
    assert "timeout 1 0 0 0 0 1 0 0 0 B 90 B 0 B 0 B 0 2,000" in lines
    assert "a.test 9 8 1 0 0 0 0 1 3.6 MB 7.3 kB 1 kB 2 B 91 2,000" in lines
    assert [line.split()[0] for line in lines if line.startswith(("status", "host", "plan", "node"))] == [
        "status", "host", "plan", "node", "node-1",
    ]  # fmt: skip
    assert "\x1b" not in "".join(lines)


def test_what_came_back_in_an_hour_by_one_kind_as_json_and_csv(scrapy, hour):
    answer = json_of(scrapy("stats", "--hour", hour, "--by", "host", "--json"))
    assert answer["hour"] == hour
    assert [(row["by"], row["name"], row["bytes_in"]) for row in answer["rows"]] == [
        ("all", "all", 3_600_400),
        ("host", "a.test", 3_600_400),
        ("host", "=b\x1b[2J.test", 0),
    ]
    printed = scrapy("stats", "--hour", hour, "--by", "host", "--csv").stdout
    rows = printed.lstrip("\ufeff").split("\n")
    assert rows[0].startswith("by,name,requests,ok,redirects,refused,errors,timeouts,lost,too_many_redirects,bytes_in")
    assert rows[1].startswith("all,all,10,8,1,0,0,1,0,1,3600400,7390,1000,2,91,2000")
    assert rows[3].startswith("host,'=b")


def test_the_present_hour_and_what_is_none(scrapy):
    assert lines_of(scrapy("stats", "--by", "plan"))[-1] == "all 0 0 0 0 0 0 0 0 0 B 0 B 0 B 0 B 0 0"
    assert "expected one in UTC, such as 2026-11-28T11" in error_of(scrapy("stats", "--hour", "11 o'clock"))
    assert "--by" in error_of(scrapy("stats", "--by", "site"))
