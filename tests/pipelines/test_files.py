from __future__ import annotations

import asyncio
import contextlib
import json
import platform
import re
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from pipelines.sink_samples import SETTINGS, Outages, message, page, pipeline

from crawler.base.errors import ConfigError, SinkRejectedError, UnavailableError
from crawler.base.item import Item
from crawler.pipelines.files import MAX_PARTS, REPAIR_BLOCK_BYTES, FilesSink

NODE = re.sub(r"[^a-z0-9_-]+", "-", platform.node().lower())


def sink(folder: Path, outages: Outages | None = None, **settings):
    files = FilesSink.from_settings({**SETTINGS, "ITEMS_DIR": str(folder), **settings})
    return pipeline("files", files, outages)


def file(folder: Path, number: int = 1, site: str = "demo_forum", node: str = NODE) -> Path:
    return folder / f"{site}.{node}.{number}.jsonl"


def lines(path: Path) -> list[dict]:
    text = path.read_text("utf-8")
    assert not text or text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


@contextlib.contextmanager
def limited(kind, amount):
    """Has the process a limit of its resources meanwhile."""
    soft, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (amount, hard))
    try:
        yield
    finally:
        resource.setrlimit(kind, (soft, hard))


async def put(sink, *pages) -> None:
    await asyncio.gather(*(sink.process_item(one) for one in pages))


@pytest.mark.parametrize("fsync", [False, True])
async def test_each_item_is_a_line_of_its_sites_file(tmp_path, fsync):
    files = sink(tmp_path / "new" / "items", FILES_FSYNC=fsync)
    pages = [page(1), page(2, content="two\nlines\u2028and more"), page(3, resource="wiki")]
    await put(files, *pages)
    await files.close_spider()
    folder = tmp_path / "new" / "items"
    assert [json.loads(line) for line in file(folder).read_bytes().split(b"\n")[:-1]] == [
        message(one) for one in pages[:2]
    ]
    assert lines(file(folder, site="wiki")) == [message(pages[2])]


async def test_a_batch_may_have_more_lines_than_a_system_call_takes(tmp_path):
    pages = [page(number) for number in range(MAX_PARTS + 1)]
    files = sink(tmp_path, SINK_BATCH=len(pages))
    await put(files, *pages)
    await files.close_spider()
    assert lines(file(tmp_path)) == [message(one) for one in pages]


async def test_a_restart_goes_on_with_the_file(tmp_path):
    for number in (1, 2):
        files = sink(tmp_path)
        await put(files, page(number))
        await files.close_spider()
    assert [path.name for path in tmp_path.iterdir()] == [file(tmp_path).name]
    assert [line["title"] for line in lines(file(tmp_path))] == ["Thread 1", "Thread 2"]


@pytest.mark.parametrize("whole", ["", '{"a": 1}\n', '{"a": 1}\n' * 20_000])
@pytest.mark.parametrize("half", ['{"b', "x" * (3 * REPAIR_BLOCK_BYTES), "x" * REPAIR_BLOCK_BYTES])
async def test_a_half_line_is_cut_off(tmp_path, whole, half):
    file(tmp_path).write_text(whole + half)
    file(tmp_path, 7, "other").write_text(whole + half)  # of a site that this worker may never see
    files = sink(tmp_path)
    await put(files, page())
    await files.close_spider()
    assert file(tmp_path).read_text("utf-8").startswith(whole)
    assert len(lines(file(tmp_path))) == whole.count("\n") + 1
    assert file(tmp_path, 7, "other").read_text() == whole


async def test_a_living_workers_file_and_other_nodes_files_are_left_alone(tmp_path):
    first = sink(tmp_path)
    await put(first, page(1))
    with file(tmp_path).open("a") as unfinished:
        unfinished.write('{"half')
    file(tmp_path, node="elsewhere").write_text('{"half')
    (tmp_path / "notes.txt").write_text("no newline")

    second = sink(tmp_path)
    await put(second, page(2))
    assert file(tmp_path).read_text("utf-8").endswith('{"half')
    assert file(tmp_path, node="elsewhere").read_text() == '{"half'
    assert (tmp_path / "notes.txt").read_text() == "no newline"
    assert [line["title"] for line in lines(file(tmp_path, 2))] == ["Thread 2"]
    await first.close_spider()
    await second.close_spider()


WRITER = """
import asyncio, sys
sys.path.insert(0, {here!r})
from pipelines.sink_samples import SETTINGS, page, pipeline
from crawler.pipelines.files import FilesSink

async def main():
    sink = pipeline("files", FilesSink.from_settings({{**SETTINGS, "ITEMS_DIR": {folder!r}}}))
    for first in range(0, 1_000_000, 50):
        pages = [page(number, content="text " * 2_000) for number in range(first, first + 50)]
        await asyncio.gather(*(sink.process_item(one) for one in pages))
        print(first + 50, flush=True)

asyncio.run(main())
"""


def acknowledged_before_kill_9(script: str) -> int:
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as writer:
        acknowledged = 0
        while acknowledged < 200:
            acknowledged = int(writer.stdout.readline())
        writer.send_signal(signal.SIGKILL)
        return max([acknowledged, *map(int, writer.stdout)])


@pytest.mark.faults  # processes are killed again and again
@pytest.mark.process
async def test_kill_9_loses_nothing_acknowledged_and_leaves_no_half_line(tmp_path):
    script = WRITER.format(here=str(Path(__file__).parents[1]), folder=str(tmp_path))
    for _ in range(3):
        acknowledged = acknowledged_before_kill_9(script)
        files = sink(tmp_path)
        await put(files, page(-1))  # opening repairs
        await files.close_spider()
        titles = {line["title"] for line in lines(file(tmp_path))}
        assert titles >= {f"Thread {number}" for number in range(acknowledged)}
        file(tmp_path).unlink()


async def test_on_a_full_disk_items_wait_and_the_file_ends_with_a_whole_line(tmp_path, monkeypatch):
    outages = Outages()
    files = sink(tmp_path, outages)
    await put(files, page(1))
    size = file(tmp_path).stat().st_size
    with limited(resource.RLIMIT_FSIZE, size + 1_000):  # half of the next lines
        putting = asyncio.create_task(put(files, page(2), page(3), page(4)))
        await outages.down.wait()
        assert [line["title"] for line in lines(file(tmp_path))] == ["Thread 1"]
        assert not putting.done()
    await putting
    await files.close_spider()
    assert [line["title"] for line in lines(file(tmp_path))] == [f"Thread {number}" for number in (1, 2, 3, 4)]
    assert outages.told == ["files down", "files up"]


async def test_a_file_that_cannot_be_opened_fails_its_own_items_alone(tmp_path):
    file(tmp_path, site="broken").mkdir()
    outages = Outages()
    files = sink(tmp_path, outages)
    pages = [page(1), page(2, resource="broken"), page(3)]
    results = await asyncio.gather(*(files.process_item(one) for one in pages), return_exceptions=True)
    assert [type(result) for result in results] == [Item, SinkRejectedError, Item]
    with pytest.raises(SinkRejectedError, match="no-file"):
        await files.process_item(pages[1])  # with nothing beside it
    await files.close_spider()
    assert [path.name for path in sorted(tmp_path.iterdir())] == [
        file(tmp_path, site="broken").name,
        file(tmp_path).name,
    ]
    assert [line["title"] for line in lines(file(tmp_path))] == ["Thread 1", "Thread 3"]
    assert not outages.told


async def test_a_folder_that_takes_no_new_file_is_waited_for(tmp_path, monkeypatch):
    outages = Outages()
    files = sink(tmp_path, outages)
    await put(files, page(1))
    with limited(resource.RLIMIT_NOFILE, 1):  # as with no room for another file
        putting = asyncio.create_task(put(files, page(2), page(3, resource="wiki")))
        await outages.down.wait()
    await putting
    await files.close_spider()
    assert [line["title"] for line in lines(file(tmp_path))] == ["Thread 1", "Thread 2"]
    assert len(lines(file(tmp_path, site="wiki"))) == 1
    assert outages.told == ["files down", "files up"]


async def test_a_proof_leaves_nothing_in_the_folder(tmp_path):
    files = FilesSink(tmp_path, "node", fsync=False)
    await files.prove()
    with limited(resource.RLIMIT_FSIZE, 0), pytest.raises(UnavailableError):
        await files.prove()
    await files.close()
    assert not list(tmp_path.iterdir())


async def test_a_file_that_somebody_deleted_is_made_anew(tmp_path):
    files = sink(tmp_path)
    await put(files, page(1))
    file(tmp_path).unlink()
    await put(files, page(2))
    await files.close_spider()
    assert [line["title"] for line in lines(file(tmp_path))] == ["Thread 2"]


@pytest.mark.parametrize("name", ["", "../escape", "a/b", "A", "a.b", ".", "a\n", "x" * 65, "洪水", "-a"])
async def test_a_site_name_that_is_no_file_name_is_refused(tmp_path, name):
    with pytest.raises(SinkRejectedError, match="bad-site-name"):
        await sink(tmp_path).process_item(page(resource=name))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("extra", [{"a": "\ud800"}, {"a": 2**64}, {"a": object()}, {1: 2}])
async def test_what_is_not_json_is_refused(tmp_path, extra):
    with pytest.raises(SinkRejectedError) as refusal:
        await sink(tmp_path).process_item(page(extra=extra))
    assert refusal.value.reason == "not-encodable"


async def test_items_of_other_kinds_pass_through(tmp_path):
    item = {"custom": 1}
    assert await sink(tmp_path).process_item(item) is item


def test_a_folder_that_cannot_be_is_refused_at_start(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="ITEMS_DIR"):
        sink(tmp_path / "file")
