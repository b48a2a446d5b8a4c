"""`scrapy runspider` runs a spider of the frontier where `scrapy crawl` would, and says in a line why it doesn't."""

from __future__ import annotations

import pytest
from commands.conftest import content_seed
from waiting import PATIENCE_SECONDS

OWN_SPIDER = """
from crawler.spiders.consumer import ConsumerSpider

class Own(ConsumerSpider):
    name = "own"
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "own.py").write_text(OWN_SPIDER)
    return tmp_path / "own.py"


@pytest.mark.parametrize(
    ("settings", "environment", "said"),
    [
        ({"CONNECT_SECONDS": 1}, {"REDIS_URL": "redis://127.0.0.1:1"}, "Redis at redis://127.0.0.1:1: Error 111"),
        ({"SESSION_SECONDS": "soon"}, {}, "setting SESSION_SECONDS: got 'soon', expected "),
    ],
)
def test_why_it_can_t_start_is_one_line(scrapy, file, tmp_path, settings, environment, said):
    log = tmp_path / "own.log"
    done = scrapy("runspider", file, "--logfile", log, settings=settings, environment=environment)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(f"error: {said}")
    assert f"ERROR: the spider couldn't start: {said}" in log.read_text()
    assert "Traceback" not in done.stderr + log.read_text()


async def test_a_subclass_of_the_consumer_works_off_the_frontier(spawn, file, operator):
    await operator.queues["content"].offer([content_seed(1)])
    settings = {"STOP_WHEN_DONE": 1, "NODE_CPU_LIMIT_PERCENT": 100, "NODE_MEMORY_LIMIT_PERCENT": 100, "MAX_ATTEMPTS": 1}
    worker = spawn("runspider", file, settings=settings)
    assert worker.wait(PATIENCE_SECONDS) == 0, worker.log.read_text()
    assert (await operator.ledger())["flood", "board"]["content"].ready == 0
