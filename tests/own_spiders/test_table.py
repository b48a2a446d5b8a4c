"""The table of Scrapy's features in `docs/scrapy.md`: what differs is named, and each difference has a test."""

from __future__ import annotations

import pytest
from own_spiders.conftest import PROJECTS, ROOT

# Features that don't behave as in a bare project, in the words of the table, and the test that shows how they do.
DIFFERENT = {
    "`scrapy crawl` of an unknown name": "test_an_unknown_spider_is_one_line",
    "`scrapy crawl` outside a project": "test_outside_of_a_project_there_is_nothing_to_act_on",
    "`scrapy list`": "test_the_spiders_that_are_listed",
    "`scrapy shell`, `fetch`, `parse` with `--spider consumer`": "test_no_command_but_crawl_makes_a_spider_claim_seeds",
    "`scrapy runspider`": "test_why_it_can_t_start_is_one_line",
    "`scrapy settings`": "test_it_prints_what_counts_without_passwords",
    "`scrapy bench`": "test_bench_is_refused_as_its_server_is_on_this_machine",
    "private addresses": "test_private_addresses_are_refused_with_the_setting_that_allows_them",
    "names of spiders": "test_an_unknown_spider_is_one_line",
}


def rows():
    text = (ROOT / "docs" / "scrapy.md").read_text(encoding="utf-8")
    table = text[text.index("| feature |") :].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table]


def test_the_table_names_what_differs():
    assert len(rows()) >= 45
    assert all(len(row) == 4 for row in rows())
    different = {feature for feature, _bare, *ours in rows() if any(cell != "=" for cell in ours)}
    assert different == set(DIFFERENT)


def test_each_difference_has_a_test():
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name in DIFFERENT.values() if f"def {name}" not in source] == []


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
