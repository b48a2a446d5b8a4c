"""Runs README's step by step path as a stranger would: its very text, but for Redis's address and the forum's port."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from testbed.servers.process import free_port

pytestmark = pytest.mark.process
ROOT = Path(__file__).parents[1]
INSTALL, REDIS, PORT = "make install && . .venv/bin/activate\n", "redis://127.0.0.1:6379/0", "8800"  # in README's text
SECONDS = 180.0  # some ten times what it takes


def steps():
    blocks = re.findall(r"^```sh\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.DOTALL | re.MULTILINE)
    (block,) = (block for block in blocks if "scrapy crawl producer" in block)
    return block


@pytest.fixture
def environment(tmp_path):
    """That of a shell in which `make install` was run; the demo's sites are where this test's forum is."""
    (tmp_path / "sites").mkdir()
    port = str(free_port())
    for site in ("demo_forum", "demo_forum_ajax"):
        text = (ROOT / f"crawler/sites/{site}.yaml").read_text("utf-8")
        assert f":{PORT}" in text
        (tmp_path / f"sites/{site}.yaml").write_text(text.replace(f":{PORT}", f":{port}"), "utf-8")
    shutil.copytree(ROOT / "plans", tmp_path / "plans")
    shutil.copy(ROOT / "scrapy.cfg", tmp_path)
    return {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "PYTHONPATH": str(ROOT),
        "SITES_DIR": str(tmp_path / "sites"),
        "NODE_CPU_LIMIT_PERCENT": "100",  # the machine is busy with other tests
        "NODE_MEMORY_LIMIT_PERCENT": "100",
        "PORT": port,
    }


def test_it_ends_with_items(redis_url, environment, tmp_path):
    text = steps()
    assert text.startswith(INSTALL)
    script = text.removeprefix(INSTALL).replace(REDIS, redis_url).replace(PORT, environment["PORT"])
    assert redis_url in script
    assert f"--port {environment['PORT']}" in script
    with (tmp_path / "output").open("wb") as said, (tmp_path / "errors").open("wb") as errors:
        command = ["sh", "-e", "-c", script]
        shell = subprocess.Popen(
            command, cwd=tmp_path, env=environment, stdout=said, stderr=errors, start_new_session=True
        )
    try:
        status = shell.wait(SECONDS)
    finally:
        os.killpg(shell.pid, signal.SIGKILL)  # the forum stays up, as it does for a stranger
    output = (tmp_path / "output").read_text("utf-8")
    assert status == 0, output + (tmp_path / "errors").read_text("utf-8")
    assert "warning: site" not in output
    shown = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    assert {item["resource"] for item in shown} >= {"demo_forum", "demo_forum_ajax"}
    assert re.search(r"^all +(\d+) .* 0$", output, re.MULTILINE)
    assert f"{tmp_path}/items/SITE.*.jsonl" in output
