"""What came back in an hour, in the monitor; over HTTP, on a real Redis."""

from __future__ import annotations

from datetime import UTC, datetime

import orjson
import pytest
from monitor.conftest import text_of

from crawler.telemetry import hour_answers
from crawler.telemetry.history import DAY, HOUR
from crawler.telemetry.hour_answers import OTHERS, AnswerCounts

pytestmark = pytest.mark.usefixtures("_reads_anew")


async def test_the_answers_of_an_hour(browser, operator):
    begin_s = await operator.registry.now_ms() // 1000 // HOUR * HOUR - 3 * HOUR
    counts = {
        "status": {"200": AnswerCounts(4, ok=4, bytes_in=7_200_000, delay_ms=4_000)},
        "host": {"<b>.test": AnswerCounts(3, ok=3), OTHERS: AnswerCounts(1, ok=1)},
    }
    async with operator.redis.pipeline(transaction=False) as pipeline:
        hour_answers.add(pipeline, operator.keys, begin_s, counts, DAY)
        await pipeline.execute()
    viewer, hour = browser("viewer"), f"{datetime.fromtimestamp(begin_s, UTC):%Y-%m-%dT%H}"
    page = viewer.get(f"/answers?hour={hour}").text
    assert "200 4 4 0 0 0 0 0 0 7.2 MB 0 B 2 kB 0 B 0 1,000" in text_of(page)
    assert f"/answers.csv?hour={hour}&amp;by=status" in page
    before = f"{datetime.fromtimestamp(begin_s - HOUR, UTC):%Y-%m-%dT%H}"
    assert f"/answers?hour={before}&amp;by=status" in page
    page = viewer.get(f"/answers?hour={hour}&by=host").text
    assert "<b>" not in page
    assert 'href="/host?name=%3Cb%3E.test"' in page
    rows = orjson.loads(viewer.get(f"/answers.json?hour={hour}&by=host").text)
    assert [(row["name"], row["requests"]) for row in rows] == [("all", 4), ("<b>.test", 3), (OTHERS, 1)]
    assert "status,200,4,4," in viewer.get(f"/answers.csv?hour={hour}").text
    assert viewer.get("/answers?hour=x").status == 400
    viewer.get("/language?to=zh&then=/")
    assert "小时" in viewer.get("/answers").text
