"""The table of Scrapy's features in `docs/scrapy.md`: what differs is named."""

from __future__ import annotations

import pytest
from own_spiders.conftest import PROJECTS, ROOT

# Features that don't behave as in a bare project, in the words of the table.
DIFFERENT = {
    "`scrapy crawl` of an unknown name",
    "`scrapy crawl` outside a project",
    "`scrapy list`",
    "`scrapy shell`, `fetch`, `parse` with `--spider consumer`",
    "`scrapy runspider`",
    "`scrapy settings`",
    "`scrapy bench`",
    "private addresses",
    "names of spiders",
}


def rows():
    text = (ROOT / "docs" / "scrapy.md").read_text(encoding="utf-8")
    table = text[text.index("| feature |") :].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table]


def test_the_table_names_what_differs():
    assert len(rows()) >= 45
    assert all(len(row) == 4 for row in rows())
    different = {feature for feature, _bare, *ours in rows() if any(cell != "=" for cell in ours)}
    assert different == DIFFERENT


@pytest.mark.parametrize("project", PROJECTS[1:])
def test_an_unknown_spider_is_one_line(projects, run, project):
    project = projects[project]
    status, output, errors = run(project, ["crawl", *project.options, "nobody"])
    assert (status, output) == (1, "")
    assert errors == "error: no spider 'nobody'; there are: consumer, odd, producer\n"


@pytest.mark.parametrize(
    ("project", "listed"),
    [("bare", ["odd"]), ("with the add-on", ["odd"]), ("ours", ["consumer", "odd", "producer"])],
)
def test_the_spiders_that_are_listed(projects, run, project, listed):
    status, output, errors = run(projects[project], ["list", *projects[project].options])
    assert (status, output.split(), errors) == (0, listed, "")


def test_all_spiders_are_listed_where_the_project_names_them(projects, run):
    words = ["list", "-s", "SPIDER_MODULES=crawler.spiders,shop.spiders"]
    status, output, errors = run(projects["with the add-on"], words)
    assert (status, output.split(), errors) == (0, ["consumer", "odd", "producer"], "")


def test_bench_is_refused_as_its_server_is_on_this_machine(projects, run):
    status, _, errors = run(projects["with the add-on"], ["bench"])
    assert status == 0
    assert "localhost has a private address, which ALLOW_PRIVATE_ADDRESSES=1 would allow" in errors
