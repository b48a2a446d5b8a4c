"""Scrapy's commands do beside Headroom what they do in a project that `scrapy startproject` has just written.

There is no Redis: `NOWHERE` in the environment names one that doesn't answer.
"""

from __future__ import annotations

import pytest
from own_spiders.conftest import PROJECTS
from own_spiders.odd_server import odd_server

ALONE = """
import scrapy

class AloneSpider(scrapy.Spider):
    name = "alone"
    custom_settings = {"DOWNLOAD_DELAY": 0}

    async def start(self):
        yield scrapy.Request(self.url)

    def parse(self, response):
        '''A contract.

        @url URL
        @returns items 1
        '''
        print(response.status, response.text, self.settings["SCHEDULER"])
        yield {"url": response.url}
"""
COMMANDS = [
    ("fetch", "--nolog", "URL"),
    ("fetch", "--nolog", "--headers", "URL"),
    ("view", "--nolog", "URL"),
    ("shell", "--nolog", "URL", "-c", "(response.status, response.text, type(crawler.engine).__name__)"),
    ("parse", "--nolog", "--noitems", "--spider", "odd", "-a", "folder=FOLDER", "-d", "1", "URL"),
    ("runspider", "--nolog", "FOLDER/alone.py", "-a", "url=URL"),
    ("check",),
    ("check", "-l"),
    ("settings", "--get", "SCHEDULER"),
    ("settings", "--getint", "CONCURRENT_REQUESTS"),
    ("genspider", "-d", "basic"),
    ("version",),
]

pytestmark = [pytest.mark.faults, pytest.mark.matrix]  # each starts commands or crawls of its own, one after the other


REFUSED = (
    "error: the spider 'consumer' runs by scrapy crawl consumer alone; scrapy site check FILE URL shows what a page "
    "yields\n"
)


@pytest.fixture(scope="module")
def url():
    with odd_server([]) as origin:
        yield f"{origin}/once"


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_does_the_same_everywhere(projects, run, url, tmp_path, words):
    (tmp_path / "alone.py").write_text(ALONE)
    words = [word.replace("URL", url).replace("FOLDER", str(tmp_path)) for word in words]
    answers = {}
    for name in PROJECTS:
        project = projects[name]
        allowed = () if words[0] in ("settings", "version") else ("-s", "ALLOW_PRIVATE_ADDRESSES=1")
        status, output, errors = run(project, [words[0], *project.options, *allowed, *words[1:]])
        assert status == 0, errors
        answers[name] = output
    assert answers["with the add-on"] == answers["bare"]
    assert answers["ours"] == answers["bare"]


@pytest.mark.parametrize("project", PROJECTS[1:])
@pytest.mark.parametrize("words", [("fetch",), ("view",), ("shell", "-c", "1"), ("parse", "-c", "parse")], ids=" ".join)
def test_no_command_but_crawl_makes_a_spider_claim_seeds(projects, run, url, project, words):
    """With a Redis that answers it would; here it would look for one for half a minute."""
    project = projects[project]
    command = [words[0], *project.options, "-L", "WARNING", "--spider", "consumer", *words[1:], url]
    assert run(project, command) == (1, "", REFUSED)


@pytest.mark.parametrize("project", PROJECTS[1:])
def test_a_shell_without_a_page_is_refused_too(projects, run, project):
    project = projects[project]
    command = ["shell", *project.options, "-L", "WARNING", "--spider", "consumer", "-c", "1"]
    assert run(project, command) == (1, "", REFUSED)


@pytest.mark.parametrize("project", PROJECTS[1:])
def test_a_check_of_contracts_leaves_the_frontiers_spiders_alone(projects, run, project):
    project = projects[project]
    status, _, errors = run(project, ["check", *project.options, "consumer", "producer"])
    assert status == 0, errors
    assert "Ran 0 contracts" in errors


@pytest.mark.parametrize("project", PROJECTS[:2])
def test_a_spider_that_genspider_writes_filters_what_it_has_seen(projects, run, url, tmp_path, project):
    project = projects[project]
    status, _, errors = run(project, ["genspider", "fresh", url])
    assert status == 0, errors
    module = project.folder / "shop" / "spiders" / "fresh.py"
    text = module.read_text()
    try:
        module.write_text(text.replace("pass", "yield response.follow('/once')\n        yield {'a': 1}"))
        quick = ("-s", "DOWNLOAD_DELAY=0", "-s", "ALLOW_PRIVATE_ADDRESSES=1")
        status, output, errors = run(project, ["crawl", "fresh", *quick, "-o", "-:jsonl", "--nolog"])
    finally:
        module.unlink()
    assert (status, output.strip()) == (0, '{"a": 1}'), errors
