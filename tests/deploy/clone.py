"""A clone of this repository, whose plan is a slow one on the tests' forum."""

from __future__ import annotations

import os
import shutil

from testbed.servers.process import ROOT

FILES = (
    *("crawler", "plans", "deploy", "headroom_commands.py", "pyproject.toml", "README.md", "LICENSE", "setup.py"),
    *("scrapy.cfg", "requirements.txt"),
)
PLAN = """
name: flood
sites:
  - {{use: demo_forum, name: board, base: "{base}"}}
keywords: {{event: {{required: [洪水], optional: [救援]}}}}
"""
# How pip reaches its index here, and by whose certificates.
PIP = {name: value for name, value in os.environ.items() if name.startswith("PIP_") or name == "SSL_CERT_FILE"}


def copy(names, folder):
    """Copies files and folders of this repository into a folder."""
    for name in names:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder)


def make(folder, forum):
    """Makes a clone in a folder that isn't there yet; returns the folder."""
    folder.mkdir()
    copy(FILES, folder)
    site = folder / "crawler/sites/demo_forum.yaml"
    text = site.read_text("utf-8")
    assert "delay: 0.02, concurrency: 4" in text
    # So slowly that something can happen in mid crawl.
    site.write_text(text.replace("delay: 0.02, concurrency: 4", "delay: 0.2, concurrency: 1"), "utf-8")
    (folder / "plans/demo.yaml").write_text(PLAN.format(base=forum.url), "utf-8")
    return folder
