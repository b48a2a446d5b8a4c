"""What is often added has one door: a copy of `crawler/` gets a sink, a key of sites, a field of items and a metric.

Each is one line in one file (the sink's class a file of its own), and whatever shows or reads it knows it by that.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# File -> a line of it, and the one that is added in front of it.
LINES = {
    "config/__init__.py": (
        '        "kafka": "crawler.pipelines.kafka.KafkaSink",\n',
        '        "memory": "crawler.pipelines.memory.MemorySink",\n',
    ),
    "sites/model.py": (
        "    timezone: str = Field(\n",
        '    owner: str = Field("", max_length=80, description="Who runs the site.", examples=["a club"])\n',
    ),
    "base/item.py": (
        '    author: Annotated[str | None, ReadAs.NAMES, MayBeCut(6), "Null when the page names none."] = None\n',
        '    board: Annotated[str | None, ReadAs.LINE, "Of the forum; null when the page names none."] = None\n',
    ),
    "cluster/metrics.py": (
        '        _gauge("turns_held", "Turns of hosts that workers hold.", [({}, overview.turns_held)]),\n',
        '        _gauge("ledgers", "Ledgers, one of each plan and site.", [({}, overview.ledgers)]),\n',
    ),
}

MEMORY_SINK = '''
"""A sink that keeps messages in memory."""

from crawler.pipelines.sink import Sink


class MemorySink(Sink):
    def __init__(self):
        self.messages = []

    @classmethod
    def from_settings(cls, settings):
        return cls()

    async def send(self, batch):
        self.messages += [record.value for record in batch]
        return {}

    async def close(self):
        """Has nothing to let go of."""
'''

# Reads two pages of an item by a site that has the key, and delivers it to the sink.
USE = """
import asyncio
from pathlib import Path
from types import SimpleNamespace

import jsonschema
import orjson
from scrapy.settings import Settings

import crawler
from crawler import extract
from crawler.base.item import item_schema
from crawler.base.models import Fetched, Seed
from crawler.base.yaml_schema import schema_of
from crawler.cluster.metrics import metrics
from crawler.cluster.overview import Overview
from crawler.pipelines.clean import CleanPipeline
from crawler.pipelines.sink import Record, chosen_sinks, message
from crawler.sites import Site
from crawler.spiders.consumer import item
from crawler.telemetry.exposition import exposition
from testbed import reference_pages

assert Path(crawler.__file__).parent.parent == Path.cwd()  # not the checkout

[(name, sink)] = chosen_sinks(Settings({"ITEM_SINKS": "memory"})).items()
assert name == "memory"
assert "files, mongo, memory, kafka" in reference_pages.settings()

rules = {"content": "css:p", "board": {"select": "css:.board", "required": True}}
site = Site.from_definition({"name": "forum", "owner": "a club", "content": rules})
assert site.owner == "a club"
assert Site.from_definition(site.definition()) == site
assert schema_of(Site, "site file")["properties"]["owner"]["description"] == "Who runs the site."
for row in ("| `owner` | at most 80 characters |  | Who runs the site. | `a club` |", "| `board` | a rule, "):
    assert row in reference_pages.site_files()

def page(markup):
    return Fetched("https://forum.example/1", 200, "text/html", markup.encode())

first = extract.fields(page("<b class=board> Dams &amp;\\n floods </b>"), site)
assert (first.board, first.missing) == ("Dams & floods", ("content",))
second = extract.fields(page("<p>text<b class=board>other</b>"), site)
seed = Seed("https://forum.example/1", "plan", "forum")
claimed = SimpleNamespace(fingerprint=b"0" * 16)
read = item(page(""), SimpleNamespace(seed=seed, claimed=claimed), extract.join([first, second]))
assert read.board == "Dams & floods"
read.board = " Dams  &  floods"
asyncio.run(CleanPipeline().process_item(read))
asyncio.run(sink.send([Record("forum", read.fingerprint, message(read))]))
[value] = map(orjson.loads, sink.messages)
assert value["board"] == "Dams & floods"
jsonschema.validate(value, item_schema())
del value["board"]
assert not jsonschema.Draft202012Validator(item_schema()).is_valid(value)

empty = Overview(
    at_ms=0, frontiers={}, turns_held=0, ledger={}, ledgers=7, plan_states={}, totals={}, workers=[], redis=[]
)
assert b"\\n# TYPE headroom_ledgers gauge\\nheadroom_ledgers 7\\n" in exposition(metrics(empty))[1]
"""


@pytest.mark.process
def test_one_line_each_adds_a_sink_a_site_key_an_item_field_and_a_metric(tmp_path):
    package = shutil.copytree(ROOT / "crawler", tmp_path / "crawler", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "testbed/reference_texts", tmp_path / "testbed/reference_texts")
    shutil.copy(ROOT / "testbed/reference_pages.py", tmp_path / "testbed")
    (package / "pipelines/memory.py").write_text(MEMORY_SINK, encoding="utf-8")
    for name, (line, added) in LINES.items():
        text = (package / name).read_text(encoding="utf-8")
        assert text.count(line) == 1, name
        (package / name).write_text(text.replace(line, added + line), encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    words = [sys.executable, "-c", USE]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
