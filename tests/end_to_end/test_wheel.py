"""The wheel holds all that a crawl needs: installed, it crawls from a plan to items in a project fresh from Scrapy."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from crawl import CRAWL_SECONDS
from runner import ANY_LOAD, NOWHERE

ROOT = Path(__file__).parents[2]
SOURCES = ("crawler", "plans", "headroom_commands.py", "pyproject.toml", "README.md", "LICENSE")
BUILD_SECONDS = 120
PLAN = """
name: flood
sites: [{{use: demo_forum, name: board, base: "{base}"}}]
keywords: {{event: {{required: [洪水], optional: [救援]}}}}
"""
# What a team adds: a pipeline of its own spiders, in which the crawl's items would fail, one for the crawl's, a spider.
SETTINGS = """
ITEM_PIPELINES = {"shop.pipelines.ShopPipeline": 300}
FRONTIER_SETTINGS = {"ITEM_PIPELINES": {"shop.pipelines.PricePipeline": 300}}
"""
PIPELINES = """
class ShopPipeline:
    def process_item(self, item):
        return item["price"]


class PricePipeline:
    def process_item(self, item):
        item.extra["price"] = len(item.title)
        return item
"""
SPIDER = """
from crawler.spiders.consumer import ConsumerSpider


class PriceSpider(ConsumerSpider):
    name = "prices"
"""
BUILD = "import sys; from setuptools import build_meta; print(build_meta.build_wheel(sys.argv[1]))"


def run(*words, **options):
    """Runs Python to its end, which must be a good one; returns what it printed."""
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=BUILD_SECONDS,
        check=False,
        **options,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder into which the wheel of this tree was installed, without its dependencies."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, source)
    wheel = folder / run("-c", BUILD, folder, cwd=source).split()[-1]
    target = folder / "installed"
    run("-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", target, wheel)
    return target


def test_it_holds_what_is_no_python_too(installed):
    names = {path.relative_to(ROOT).as_posix() for path in (ROOT / "crawler").rglob("*") if path.is_file()}
    wanted = {name for name in names if not name.endswith(".pyc")}
    assert {name for name in wanted if name.endswith((".lua", ".yaml", ".json", ".typed"))}
    assert [name for name in sorted(wanted) if not (installed / name).is_file()] == []
    plans = {path.name for path in (installed / "share" / "headroom" / "plans").iterdir()}
    assert plans == {path.name for path in (ROOT / "plans").glob("*.yaml")}
    (about,) = installed.glob("headroom-*.dist-info")
    assert "the Headroom authors" in (about / "licenses" / "LICENSE").read_text()
    assert "License-Expression: MIT" in (about / "METADATA").read_text()


@pytest.mark.faults
def test_a_project_fresh_from_scrapy_crawls_a_plan_to_items(installed, forum, redis_url, tmp_path):
    environment = {**os.environ, **NOWHERE, "REDIS_URL": redis_url, "PYTHONPATH": str(installed)}
    project = tmp_path / "shop"

    def scrapy(*words, cwd=project):
        return run("-m", "scrapy", *words, cwd=cwd, env=environment)

    scrapy("startproject", "shop", project, cwd=tmp_path)
    settings = project / "shop" / "settings.py"
    text = settings.read_text().replace("ADDONS = {}", 'ADDONS = {"crawler.Headroom": 100}')
    settings.write_text(text + SETTINGS)
    (project / "shop" / "pipelines.py").write_text(PIPELINES)
    (project / "shop" / "spiders" / "prices.py").write_text(SPIDER)
    (project / "flood.yaml").write_text(PLAN.format(base=forum.url), encoding="utf-8")
    where = run("-c", "import crawler; print(crawler.__file__)", cwd=project, env=environment)
    assert Path(where.strip()).parent == installed / "crawler"

    scrapy("plan", "submit", "flood.yaml")
    words = ANY_LOAD | {"ALLOW_PRIVATE_ADDRESSES": 1, "STOP_WHEN_DONE": 1}
    options = [word for name, value in words.items() for word in ("-s", f"{name}={value}")]
    with ExitStack() as running:
        workers = []
        for spider in ("producer", "prices"):
            log = running.enter_context((tmp_path / f"{spider}.log").open("w"))
            command = [sys.executable, "-m", "scrapy", "crawl", spider, *options]
            worker = subprocess.Popen(command, cwd=project, env=environment, stdout=log, stderr=log)
            running.callback(worker.kill)
            workers.append(worker)
        for worker in workers:
            worker.wait(CRAWL_SECONDS)
    logs = [(tmp_path / f"{spider}.log").read_text() for spider in ("producer", "prices")]
    assert [worker.returncode for worker in workers] == [0, 0], logs

    items = [
        json.loads(line) for file in (project / "items").glob("*.jsonl") for line in file.read_bytes().splitlines()
    ]
    (row,) = json.loads(scrapy("ledger", "--verify", "--json"))["rows"]
    assert (row["content"]["ready"], row["content"]["executing"]) == (0, 0)
    assert len({item["id"] for item in items}) > 20
    assert all(item["resource"] == "board" and item["extra"]["price"] == len(item["title"]) for item in items)
