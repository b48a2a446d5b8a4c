"""A bare machine that systemd boots: its own root, processes, cgroups and name; this machine's programs and network.

No virtual machine is needed: systemd, as process 1 of namespaces, takes them for a container. What is in `KEPT` stays
from one boot to the next, as on a disk; all else is made anew.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
import uuid
from pathlib import Path

import psutil
from needs import need
from waiting import until

from testbed.servers.process import Process

KEPT = ("/etc", "/opt", "/root", "/var")  # a machine's own; also /source, which is a clone
SHARED = ("/usr", "/etc/ssl", "/etc/resolv.conf", "/etc/hosts")  # this machine's, read-only
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
PATH = "/usr/sbin:/usr/bin"
FILES = {
    "/etc/passwd": "root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534::/:/usr/sbin/nologin\n",
    "/etc/group": "root:x:0:\nnogroup:x:65534:\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
    "/etc/login.defs": "UID_MAX 60000\nSYS_UID_MAX 999\n",
}
BOOT_SECONDS = 60
COMMAND_SECONDS = 900  # an installation from the package index takes 40 on an idle machine


class Machine:
    """Boots on entering, and is switched off at once, as by its plug, on leaving.

    Args:
        folder: Keeps the machine's disk and its console's log.
        clone: A folder that it sees as /source.
    """

    def __init__(self, folder, name, clone):
        self.folder = Path(folder)
        self.name = name
        self._disk = self.folder / "disk"
        self._group = _cgroup_mount() / f"headroom-{uuid.uuid4().hex}"
        for kept in KEPT:
            (self._disk / kept.lstrip("/")).mkdir(parents=True)
        for path, text in FILES.items():
            self.place(path).write_text(text)
        self.place("/etc/systemd/system").mkdir(parents=True)
        self.place("/etc/machine-id").write_text(f"{uuid.uuid4().hex}\n")
        (self.folder / "root").mkdir()
        script = self._script(clone)
        self._process = Process(name, ["sh", "-ec", script], self.folder)
        self._init = None

    def __enter__(self):
        self.boot()
        return self

    def __exit__(self, *_error):
        self.cut_power()

    def place(self, path):
        """Returns where a file in one of the folders in `KEPT` is outside."""
        return self._disk / path.lstrip("/")

    def list(self, path):
        """Returns what is in a folder; nothing where there is none yet."""
        return [*self.place(path).iterdir()] if self.place(path).is_dir() else []

    def boot(self):
        """Starts systemd, and waits until it has started what it starts."""
        self._group.mkdir()
        self._process.start()
        until(self._find_init, "process 1")
        # `degraded`: some unit of this machine's, such as one that wants a device, has failed in there.
        until(lambda: self.look("systemctl is-system-running") in ("running\n", "degraded\n"), "the boot", BOOT_SECONDS)

    def cut_power(self):
        """Ends all of its processes at once."""
        self._process.kill()
        for group in sorted(self._group.rglob("*/"), reverse=True):
            _remove(group)
        _remove(self._group)

    def run(self, script, environment=None):
        """Runs lines of bash as root, which must succeed; returns what they printed."""
        done = self._enter(script, environment)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def look(self, command):
        """Returns what a command prints, whether or not it succeeds."""
        return self._enter(command, None).stdout

    def _enter(self, script, environment):
        words = [
            "nsenter",
            f"--target={self._init}",
            "--mount",
            "--pid",
            "--cgroup",
            "--uts",
            "--ipc",
            "--root",
            "--wd",
        ]
        words += ["env", "-i", f"PATH={PATH}", "HOME=/root", "SYSTEMD_PAGER="]
        words += [f"{name}={value}" for name, value in (environment or {}).items()]
        words += ["bash", "-ec", script]
        return subprocess.run(words, capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False)

    def _find_init(self):
        for child in psutil.Process(self._process.pid).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                if child.name() == "systemd" and child.ppid() == self._process.pid:
                    self._init = child.pid
                    return True
        assert self._process.running, self._process.log.read_text()
        return False

    def _script(self, clone):
        root = shlex.quote(str(self.folder / "root"))
        disk = shlex.quote(str(self._disk))
        inside = [
            f"hostname {self.name}",
            f"cd {root} && mount -t tmpfs -o mode=755 none {root} && cd {root}",
            "mkdir -p usr proc sys dev run tmp source etc opt root var",
            "for name in bin lib lib64 sbin; do ln -s usr/$name $name; done",
            *(f"mount --bind {disk}{path} .{path}" for path in KEPT),
            *(
                f"mkdir -p .{path}; mount --rbind {path} .{path}"
                if os.path.isdir(path)  # noqa: PTH112 -- in shell text
                else f"touch .{path}; mount --bind {path} .{path}"
                for path in SHARED
            ),
            "mount -o remount,bind,ro ./usr",
            f"mount --bind {shlex.quote(str(clone))} ./source",
            "mount -t proc none ./proc; mount --bind ./proc/sys ./proc/sys; mount -o remount,bind,ro ./proc/sys",
            "mount -t sysfs -o ro none ./sys; mount -t cgroup2 none ./sys/fs/cgroup",
            "mount -t tmpfs -o mode=755 none ./dev; mount -t tmpfs none ./run; mount -t tmpfs -o mode=1777 none ./tmp",
            f"for name in {' '.join(DEVICES)}; do touch ./dev/$name; mount --bind /dev/$name ./dev/$name; done",
            "mkdir ./dev/shm ./dev/pts; mount -t devpts -o newinstance,ptmxmode=666 none ./dev/pts",
            "ln -s pts/ptmx ./dev/ptmx; ln -s /proc/self/fd ./dev/fd",
            # In a mere chroot there are no user namespaces, and by unshared mounts nobody is given credentials.
            "mkdir ./old; pivot_root . ./old; umount --lazy ./old; mount --make-rshared /",
            f"exec env -i container=headroom PATH={PATH} /usr/lib/systemd/systemd --unit=multi-user.target",
        ]
        namespaces = "--mount --propagation private --pid --fork --kill-child --cgroup --uts --ipc"
        return (
            f"echo $$ > {self._group}/cgroup.procs; exec unshare {namespaces} sh -ec {shlex.quote('; '.join(inside))}"
        )


def _cgroup_mount():
    """Returns where cgroups of version 2 are."""
    if os.geteuid() != 0 or not shutil.which("unshare") or not Path("/usr/lib/systemd/systemd").exists():
        need("a machine of one's own: needs root, unshare and systemd")
    if subprocess.run(
        ["/usr/bin/python3", "-c", "import ensurepip, venv"], check=False, capture_output=True
    ).returncode:
        need("a machine of one's own: needs the system's Python with its venv module")
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    for _device, place, kind, *_rest in mounts:
        if kind == "cgroup2":
            return Path(place)
    return need("a machine of one's own: needs cgroups of version 2")


def _remove(group):
    """Removes a cgroup as soon as the kernel has forgotten its processes."""

    def is_gone():
        try:
            group.rmdir()
        except FileNotFoundError:
            return True
        except OSError:
            return False
        return True

    until(is_gone, f"{group} to be empty")
