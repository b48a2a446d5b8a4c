"""A root folder of its own with the system's programs and Python, in which steps of an image run as they would there.

No container engine is needed: a mount namespace has an empty file system in memory as its root, with this machine's
/usr and Python in it, read-only, and what is made there stays in a folder from one run to the next.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from needs import need

SYSTEM = (
    "/usr",
    "/bin",
    "/lib",
    "/lib64",
    "/etc/ssl",
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/nsswitch.conf",
    sys.base_prefix,
)
KEPT = ("/opt", "/source", "/wheels", "/var/lib/headroom", "/run/secrets", "/var/cache/pip")
WORKER_UID = 10001
IMAGE_PYTHON = "/image-python"  # has `python`, as the image's base has, which a distribution may only call python3


class CleanRoot:
    """Runs scripts with a root of their own.

    Args:
        folder: Keeps what the scripts write to the folders in `KEPT`; others may pass through it.
    """

    def __init__(self, folder):
        if os.geteuid() != 0 or not shutil.which("unshare") or self._is_refused():
            need("a root folder of one's own: needs root, and leave to make mount namespaces")
        self.folder = Path(folder)
        (self.folder / "root").mkdir()
        for name in KEPT:
            self.place(name).mkdir(parents=True)
        os.chown(self.place("/var/lib/headroom"), WORKER_UID, WORKER_UID)

    @staticmethod
    def _is_refused():
        return subprocess.run(["unshare", "--mount", "true"], check=False, capture_output=True).returncode != 0

    def place(self, name):
        """Returns where one of the folders in `KEPT` is outside."""
        return self.folder / "kept" / name.lstrip("/")

    def words(self, script, uid=0, environment=None, directory="/", cgroup=None):
        """Returns the command that runs a script of the shell in the root, with no environment but the given one.

        Args:
            cgroup: The `LimitedCgroup` that the script runs in.
        """
        root = self.folder / "root"
        mounts = [f"mount -t tmpfs -o mode=755 none {root}"]
        for path in SYSTEM:
            target = root / path.lstrip("/")
            if os.path.islink(path):  # noqa: PTH114 -- /bin is one to usr/bin
                mounts.append(f"ln -s {os.readlink(path)} {target}")  # noqa: PTH115
            elif os.path.exists(path):  # noqa: PTH110
                make = f"mkdir -p {target}" if os.path.isdir(path) else f"mkdir -p {target.parent} && touch {target}"  # noqa: PTH112
                mounts.append(f"{make} && mount --bind {path} {target} && mount -o remount,bind,ro {target}")
        mounts += [f"mkdir -p {root}{path} && mount --bind {self.place(path)} {root}{path}" for path in KEPT]
        mounts += [
            f"mkdir -p {root}/dev {root}/proc {root}/tmp {root}/sys && mount --rbind /dev {root}/dev",
            f"mount -t proc none {root}/proc && mount -t tmpfs -o mode=1777 none {root}/tmp",
            f"mount --rbind /sys {root}/sys",
            f"mkdir {root}{IMAGE_PYTHON} && ln -s {os.path.realpath(sys.executable)} {root}{IMAGE_PYTHON}/python",
            f"echo 'root:x:0:0::/root:/bin/sh' > {root}/etc/passwd",
            f"mount -o remount,ro {root}" if uid else "true",
        ]
        if cgroup:
            mounts.insert(0, cgroup.entering)
        entered = f"cd {shlex.quote(directory)} && {script}"
        given = " ".join(shlex.quote(f"{name}={value}") for name, value in (environment or {}).items())
        path = f"{IMAGE_PYTHON}:{Path(sys.base_prefix) / 'bin'}:/usr/local/bin:/usr/bin:/bin"
        user = f"setpriv --reuid {uid} --regid {uid} --clear-groups --no-new-privs --bounding-set=-all " if uid else ""
        mounts.append(f"exec chroot {root} env -i PATH={path} {given} {user}sh -ec {shlex.quote(entered)}")
        return [
            "unshare",
            "--mount",
            "--propagation",
            "private",
            "--pid",
            "--fork",
            "--kill-child",
            "sh",
            "-ec",
            "\n".join(mounts),
        ]

    def run(self, script, *, seconds=600, **options):
        """Runs a script to its end, which must be a good one; returns what it printed."""
        done = subprocess.run(
            self.words(script, **options), capture_output=True, text=True, timeout=seconds, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout
