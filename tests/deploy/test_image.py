"""The image's steps, run in a clean root; then its worker as an ordinary user, as each way starts it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import uuid
from pathlib import Path

import psutil
import pytest
import yaml
from deploy.clean_root import WORKER_UID, CleanRoot
from waiting import PATIENCE_SECONDS, until

from testbed.servers import Process
from testbed.servers.process import ROOT

pytestmark = pytest.mark.deploy
DOCKERFILE = ROOT / "deploy/Dockerfile"
MEMORY_BYTES = 512 * 1024 * 1024  # of the container; a worker takes some 100 MiB
MEMORY_CGROUPS = Path("/sys/fs/cgroup/memory")
ALIVE = "/var/lib/headroom/alive"  # seen from outside, which /tmp isn't
# How pip reaches its index here, and by whose certificates.
PIP = {name: value for name, value in os.environ.items() if name.startswith("PIP_") or name == "SSL_CERT_FILE"}


def instructions():
    """Returns the Dockerfile's stages, each as its instructions: word and arguments."""
    text = re.sub(r"(?m)^#.*\n", "", DOCKERFILE.read_text("utf-8")).replace("\\\n", " ")
    lines = [line.split(maxsplit=1) for line in text.splitlines() if line]
    starts = [number for number, (word, _) in enumerate(lines) if word == "FROM"]
    return [lines[start:end] for start, end in zip(starts, [*starts[1:], None], strict=True)]


def one(stage, wanted):
    """Returns the arguments of an instruction that a stage has once."""
    (found,) = (arguments for word, arguments in stage if word == wanted)
    return found


BUILD, IMAGE = instructions()
ENVIRONMENT = dict(word.split("=", 1) for word in shlex.split(one(IMAGE, "ENV")) if not word.startswith("PATH="))
HEALTH = one(IMAGE, "HEALTHCHECK").split("CMD ")[1]


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """A clean root with what the Dockerfile's first stage builds."""
    root = CleanRoot(tmp_path_factory.mktemp("image"))
    directory = "/"
    for word, arguments in BUILD:
        if word == "WORKDIR":
            directory = arguments
        elif word == "COPY":
            *names, target = arguments.split()
            there = root.place(directory) / target
            for name in names:
                if (ROOT / name).is_dir():
                    shutil.copytree(ROOT / name, there, ignore=shutil.ignore_patterns("__pycache__"))
                else:
                    shutil.copy(ROOT / name, there)
        elif word == "RUN":
            root.run(re.sub(r"--mount=\S+", "", arguments), directory=directory, environment={"HOME": "/root", **PIP})
    return root


@pytest.fixture
def cgroup():
    """A cgroup with a limit of memory, of version 1; an empty text where there may be none."""
    group = MEMORY_CGROUPS / f"headroom-{uuid.uuid4().hex}"
    try:
        group.mkdir()
        (group / "memory.limit_in_bytes").write_text(str(MEMORY_BYTES))
    except OSError:
        yield ""
        return
    yield group
    until(lambda: not (group / "cgroup.procs").read_text(), "the container to be empty")
    group.rmdir()


@pytest.fixture
def worker(image, redis_url, tmp_path):
    """Returns a function that starts a worker in the image, and gives its process in the container."""
    started = []

    def start(command, environment, cgroup=None):
        image.place("/run/secrets/REDIS_URL").write_text(f"{redis_url}\n", "utf-8")
        environment = {**environment, "HEARTBEAT_FILE": ALIVE, "PATH": "/opt/headroom/bin:/usr/bin:/bin"}
        words = image.words(f"exec {command}", uid=WORKER_UID, environment=environment, cgroup=cgroup)
        process = Process(f"worker-{len(started)}", words, tmp_path)
        started.append(process)
        process.start()

        def in_the_container():
            assert process.running, process.log.read_text()
            with contextlib.suppress(psutil.NoSuchProcess):  # one of the steps before it, which has ended
                for child in psutil.Process(process.pid).children(recursive=True):
                    if "/opt/headroom/bin/scrapy" in child.cmdline():
                        return child
            return None

        found = until(in_the_container, "the worker's process")
        until(lambda: in_the_container() and image.place(ALIVE).exists(), "the worker's first beat")
        return process, found

    yield start
    for process in started:
        process.kill()


def is_healthy(image):
    words = image.words(HEALTH, uid=WORKER_UID, environment=ENVIRONMENT | {"HEARTBEAT_FILE": ALIVE})
    return subprocess.run(words, check=False).returncode == 0


def stop(process, found):
    found.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE_SECONDS) == 0, process.log.read_text()


def test_it_holds_no_tools_to_build_with_and_runs_as_an_ordinary_user(image):
    there = image.run("ls /opt/headroom/lib/python*/site-packages")
    assert not {"pip", "setuptools", "wheel"} & set(there.split())
    assert one(IMAGE, "USER") == str(WORKER_UID)
    assert f"--uid {WORKER_UID}" in one(IMAGE, "RUN")
    environment = ENVIRONMENT | {"PATH": "/opt/headroom/bin:/usr/bin:/bin"}
    assert "headroom" in image.run("scrapy settings --get BOT_NAME", uid=WORKER_UID, environment=environment)


def test_its_worker_is_limited_by_its_container_healthy_without_work_and_not_when_frozen(image, worker, cgroup, crawl):
    command = " ".join([*json.loads(one(IMAGE, "ENTRYPOINT")), *json.loads(one(IMAGE, "CMD"))])
    process, found = worker(command, ENVIRONMENT, cgroup)
    until(lambda: is_healthy(image), "the worker to be healthy")
    assert found.uids().real == WORKER_UID
    until(lambda: any(one["own_memory_percent"] for one in crawl.workers()), "the worker's figures")
    (figures,) = crawl.workers()
    if cgroup:  # of 512 MiB, not of the machine's memory
        assert figures["own_memory_percent"] > 100 * 50 * 2**20 / MEMORY_BYTES
    alive = image.place(ALIVE)
    found.suspend()
    os.utime(alive, (0, alive.stat().st_mtime - 180))
    assert not is_healthy(image)
    found.resume()
    until(lambda: is_healthy(image), "the worker to be healthy again")
    stop(process, found)
    assert not alive.exists()
    assert crawl.workers() == []


def test_it_runs_as_the_unit_of_systemd_says(image, worker):
    unit = (ROOT / "deploy/systemd/headroom-producer.service").read_text("utf-8")
    (command,) = re.findall(r"(?m)^ExecStart=(.*)$", unit)
    (variables,) = re.findall(r"(?m)^Environment=(.*)$", unit)
    file = (ROOT / "deploy/systemd/headroom.env").read_text("utf-8")
    environment = dict(word.split("=", 1) for word in [*variables.split(), *re.findall(r"(?m)^\w+=.*$", file)])
    process, found = worker(
        command, environment | {"CREDENTIALS_DIRECTORY": "/run/secrets", "HOME": "/var/lib/headroom"}
    )
    stop(process, found)
    assert "items go to files: /var/lib/headroom/items/SITE" in process.log.read_text()


def test_the_probes_of_kubernetes_tell_a_worker_without_work_from_one_without_redis_and_from_a_dead_one(image):
    container = yaml.safe_load_all((ROOT / "deploy/kubernetes/consumer.yaml").read_text("utf-8"))
    (pod, _budget) = container
    (spec,) = pod["spec"]["template"]["spec"]["containers"]

    def answers():
        found = []
        for name in ("startupProbe", "livenessProbe", "readinessProbe"):
            *shell, script = spec[name]["exec"]["command"]
            assert shell == ["sh", "-c"]
            words = image.words(script, uid=WORKER_UID, environment={"HEARTBEAT_FILE": ALIVE})
            found.append(subprocess.run(words, check=False).returncode == 0)
        return found

    alive = image.place(ALIVE)
    alive.unlink(missing_ok=True)
    assert answers() == [False, False, False]
    alive.write_text("ready\n")
    assert answers() == [True, True, True]
    alive.write_text("waits\n")
    assert answers() == [True, True, False]
    os.utime(alive, (0, alive.stat().st_mtime - 180))
    assert answers() == [False, False, False]
    alive.unlink()


def test_the_engine_is_sent_what_the_steps_copy_and_nothing_else():
    copied = {name for word, arguments in BUILD if word == "COPY" for name in arguments.split()[:-1]}
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert "*" in lines
    assert {line[1:] for line in lines if line.startswith("!")} == copied
