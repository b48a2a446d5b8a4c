"""Disks of a test's own, in memory, with as little room as it likes."""

import contextlib
import subprocess

from needs import need


@contextlib.contextmanager
def own_disk(folder, options):
    """Mounts one at an empty folder; a test that needs it is skipped where that isn't allowed."""
    mounted = _mount("-t", "tmpfs", "-o", options, "tmpfs", folder)
    if mounted.returncode != 0:
        need(f"a disk of one's own: {mounted.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def resize(folder, options):
    """Gives a disk another size."""
    assert _mount("-o", f"remount,{options}", folder).returncode == 0


def _mount(*words):
    return subprocess.run(["mount", *map(str, words)], capture_output=True, text=True, check=False)
