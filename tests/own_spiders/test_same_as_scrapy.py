"""A project's own spider behaves beside Headroom as in a project that `scrapy startproject` has just written.

`docs/scrapy.md` names what differs.
"""

from __future__ import annotations

import json

import pytest
import scrapy
from own_spiders.conftest import PROJECTS
from own_spiders.odd_server import odd_server

from crawler.fast.addon import TESTED_VERSIONS

pytestmark = [pytest.mark.faults, pytest.mark.matrix]  # each starts crawls of its own, one after the other
OWN = (
    "ADDONS",
    "BOT_NAME",
    "NEWSPIDER_MODULE",
    "SETTINGS_MODULE",
    "SPIDER_MODULES",
)  # settings that name the project and its parts
ADDED = ("DOWNLOADER_MIDDLEWARES", "FAST_ENGINE", "FRONTIER_SETTINGS")  # settings that the add-on changes or brings
VARYING = ("time", "memusage", "per_minute", "log_count", "lines_count")  # in the names of statistics
# Before 2.18 Scrapy calls a callback 0.1 s after the answer came, and goes on with other requests meanwhile: as many as
# fit into that time come before what the page leads to, in a bare project as well.
IN_ORDER = not scrapy.__version__.startswith(("2.16.", "2.17."))
MIDDLEWARE = "crawler.middlewares.private_addresses.PrivateAddressMiddleware"


class Run:
    """What a crawl of the odd spider came to."""

    def __init__(self, project, server, folder, *options):
        (folder / "page.html").write_text("<p>from a file</p>")
        base, requests = server
        requests.clear()
        arguments = ("-a", f"base={base}", "-a", f"folder={folder}", "-O", folder / "items.jsonl")
        quick = ("-s", "DOWNLOAD_DELAY=0", "-s", "CONCURRENT_REQUESTS=1")  # one by one: in the same order each time
        done = project.run("crawl", "odd", *arguments, *quick, *options)
        assert done.returncode == 0, done.stderr
        run = json.loads((folder / "run.json").read_text())
        self.log = done.stderr
        asked = ((path, sorted(headers.items())) for path, headers in requests)
        self.requests = list(asked) if IN_ORDER else sorted(asked)
        items = (folder / "items.jsonl").read_text().replace(base, "").replace(str(folder), "")
        self.items = sorted(items.splitlines())
        self.stats = {name: value for name, value in run["stats"].items() if not any(map(name.count, VARYING))}
        self.settings = {name: value for name, value in run["settings"].items() if name not in OWN}
        self.settings.pop("FEEDS")  # the folder's name is in it
        self.components = run["components"]


@pytest.fixture(scope="module")
def server():
    requests = []
    with odd_server(requests) as origin:
        yield origin, requests


@pytest.fixture(scope="module")
def runs(projects, server, tmp_path_factory):
    """The run in each project, where private addresses are allowed: the server has one."""
    allowed = ("-s", "ALLOW_PRIVATE_ADDRESSES=1")
    return {name: Run(projects[name], server, tmp_path_factory.mktemp("run"), *allowed) for name in PROJECTS}


@pytest.mark.parametrize("project", PROJECTS[1:])
@pytest.mark.parametrize("what", ["requests", "items", "stats", "components"])
def test_all_is_equal_where_private_addresses_are_allowed(runs, project, what):
    assert getattr(runs[project], what) == getattr(runs["bare"], what)


def test_the_spider_has_met_what_it_is_meant_to_meet(runs):
    run = runs["bare"]
    stats = run.stats
    asked = [path for path, _ in run.requests]
    assert asked.count("/busy") == asked.count("/overloaded") == 3
    assert asked.count("/once") == 1
    assert stats["dupefilter/filtered"] >= 1
    assert stats["robotstxt/forbidden"] == 1
    assert stats["retry/max_reached"] == 1
    assert stats["httperror/response_ignored_status_count/404"] == 1
    assert stats["offsite/filtered"] == 2
    assert stats["urllength/request_ignored_count"] == 1
    cookies = {path: dict(headers).get("Cookie") for path, headers in run.requests}
    assert cookies["/cookie/show"] == "jar=full"
    assert "given=1" in cookies["/cookie/show?given"]
    items = "\n".join(run.items)
    for text in ("page /landed", "page /refreshed", "unpacked", "from a file", "written"):
        assert text in items
    assert not {"/offsite", "/elsewhere", "/forbidden/page"} & set(asked)
    assert "TelnetConsole" in str(run.components["extensions"])


@pytest.mark.parametrize("project", PROJECTS[1:])
def test_no_setting_differs_but_those_that_the_add_on_brings(runs, project):
    ours, bare = ({k: v for k, v in runs[name].settings.items() if k not in ADDED} for name in (project, "bare"))
    assert ours == bare
    assert runs[project].settings["DOWNLOADER_MIDDLEWARES"] == {MIDDLEWARE: 1_000_000}


@pytest.mark.skipif(
    not scrapy.__version__.startswith(TESTED_VERSIONS), reason="the fast engine steps back on this Scrapy"
)
def test_a_spider_that_asks_for_the_fast_engine_does_the_same_on_it(runs, projects, server, tmp_path_factory):
    options = ("-s", "FAST_ENGINE=1", "-s", "ALLOW_PRIVATE_ADDRESSES=1")
    folder = tmp_path_factory.mktemp("run")  # a path as long as the others': it counts as bytes of a request
    run = Run(projects["with the add-on"], server, folder, *options)
    assert "crawler.fast.engine.LeanEngine" in run.components["others"]
    assert (run.requests, run.items, run.stats) == (runs["bare"].requests, runs["bare"].items, runs["bare"].stats)


@pytest.mark.parametrize("project", PROJECTS[1:])
def test_private_addresses_are_refused_with_the_setting_that_allows_them(projects, project, server, tmp_path):
    run = Run(projects[project], server, tmp_path)
    assert run.requests == []
    assert "127.0.0.1 has a private address, which ALLOW_PRIVATE_ADDRESSES=1 would allow" in run.log
    errors = {item["url"]: item.get("error") for item in map(json.loads, run.items)}
    assert errors["/links"] == "PrivateAddressError"
    assert [url for url, error in errors.items() if error is None] == ["data:,written", "file:///page.html"]
