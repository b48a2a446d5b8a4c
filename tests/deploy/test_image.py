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
from pathlib import Path

import psutil
import pytest
import yaml
from deploy.cgroups import LimitedCgroup
from deploy.clean_root import WORKER_UID
from deploy.dockerfile import BUILD, ENVIRONMENT, IMAGE, PROGRAMS, one
from waiting import PATIENCE_SECONDS, until

from testbed.servers import Process
from testbed.servers.process import ROOT

pytestmark = pytest.mark.deploy
MEMORY_BYTES = 512 * 1024 * 1024  # of the container; a worker takes some 100 MiB
CORES = 0.5
ALIVE = "/var/lib/headroom/alive"  # seen from outside, which /tmp isn't


HEALTH = one(IMAGE, "HEALTHCHECK").split("CMD ")[1]


@pytest.fixture
def cgroup():
    """The container's limits. Asked for before `worker`, so that no worker is left in them when they are removed."""
    group = LimitedCgroup(memory_bytes=MEMORY_BYTES, cores=CORES)
    yield group
    group.remove()


@pytest.fixture
def worker(image, redis_url, tmp_path):
    """Returns a function that starts a worker in the image, and gives its process in the container."""
    started = []

    def start(command, environment, cgroup=None):
        image.place("/run/secrets/REDIS_URL").write_text(f"{redis_url}\n", "utf-8")
        # One that a killed worker left would count as this one's first beat, and this one still ignores SIGTERM then.
        image.place(ALIVE).unlink(missing_ok=True)
        environment = {**environment, "HEARTBEAT_FILE": ALIVE, "PATH": PROGRAMS}
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


def deployment():
    """Returns what Kubernetes' Deployments of both spiders have in common."""
    return next(yaml.safe_load_all((ROOT / "deploy/kubernetes/worker/worker.yaml").read_text("utf-8")))


def is_healthy(image):
    environment = ENVIRONMENT | {"HEARTBEAT_FILE": ALIVE, "PATH": PROGRAMS}
    words = image.words(HEALTH, uid=WORKER_UID, environment=environment)
    return subprocess.run(words, check=False).returncode == 0


def freeze(found):
    """Stops a process. Each of its threads goes on until the kernel next runs it, late where its time is limited."""
    found.suspend()
    threads = Path(f"/proc/{found.pid}/task")
    until(
        lambda: all(" (stopped)" in (thread / "status").read_text() for thread in threads.iterdir()),
        "all threads to have stopped",
    )


def stop(process, found):
    found.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE_SECONDS) == 0, process.log.read_text()


def test_it_holds_no_tools_to_build_with_and_runs_as_an_ordinary_user(image):
    there = image.run("ls /opt/headroom/lib/python*/site-packages")
    assert not {"pip", "setuptools", "wheel"} & set(there.split())
    assert one(IMAGE, "USER") == str(WORKER_UID)
    assert f"--uid {WORKER_UID}" in one(IMAGE, "RUN")
    environment = ENVIRONMENT | {"PATH": PROGRAMS}
    assert "headroom" in image.run("scrapy settings --get BOT_NAME", uid=WORKER_UID, environment=environment)


def test_its_worker_is_limited_by_its_container_healthy_without_work_and_not_when_frozen(image, cgroup, worker, crawl):
    command = " ".join([*json.loads(one(IMAGE, "ENTRYPOINT")), *json.loads(one(IMAGE, "CMD"))])
    process, found = worker(command, ENVIRONMENT, cgroup)
    until(lambda: is_healthy(image), "the worker to be healthy")
    assert found.uids().real == WORKER_UID
    until(lambda: any(one["own_memory_percent"] for one in crawl.workers()), "the worker's figures")
    (figures,) = crawl.workers()
    # Of 512 MiB, not of the machine's memory.
    assert figures["own_memory_percent"] > 100 * 50 * 2**20 / MEMORY_BYTES
    alive = image.place(ALIVE)
    freeze(found)
    os.utime(alive, (0, 0))
    assert not is_healthy(image)
    found.resume()
    until(lambda: is_healthy(image), "the worker to be healthy again")
    stop(process, found)
    assert not alive.exists()
    assert crawl.workers() == []


def test_it_runs_as_the_unit_of_systemd_says(image, worker):
    unit, shared = (
        (ROOT / "deploy/systemd" / name).read_text("utf-8")
        for name in ("headroom-producer.service", "headroom-.service.d/worker.conf")
    )
    (command,) = re.findall(r"(?m)^ExecStart=(.*)$", unit)
    (variables,) = re.findall(r"(?m)^Environment=(.*)$", shared)
    file = (ROOT / "deploy/systemd/headroom.env").read_text("utf-8")
    environment = dict(word.split("=", 1) for word in [*variables.split(), *re.findall(r"(?m)^\w+=.*$", file)])
    process, found = worker(
        command, environment | {"CREDENTIALS_DIRECTORY": "/run/secrets", "HOME": "/var/lib/headroom"}
    )
    stop(process, found)
    assert "items go to files: /var/lib/headroom/items/SITE" in process.log.read_text()


@pytest.fixture
def secrets(image):
    """Returns a function that puts a secret where the engine would, or Kubernetes below it; all are gone afterwards."""
    folder = image.place("/run/secrets")

    def put(name, text, *, below="", mode=0o440):
        file = folder / below / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        os.chown(file, 0, WORKER_UID)
        file.chmod(mode)
        return file

    yield put
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def test_it_runs_as_kubernetes_starts_it_with_a_secret_as_it_is_mounted(image, worker, secrets, redis_url, crawl):
    """A Secret's volume: each name is a link into a folder behind a link, readable by the pod's group."""
    (spec,) = deployment()["spec"]["template"]["spec"]["containers"]
    (settings,) = yaml.safe_load_all((ROOT / "deploy/kubernetes/settings.yaml").read_text("utf-8"))
    environment = settings["data"] | {one["name"]: one["value"] for one in spec["env"]} | {"ITEM_SINKS": "files"}
    secrets("REDIS_URL", redis_url, below="headroom/..2026_11_22")
    folder = image.place("/run/secrets/headroom")
    (folder / "..data").symlink_to("..2026_11_22")
    (folder / "REDIS_URL").symlink_to("..data/REDIS_URL")
    assert environment["CREDENTIALS_DIRECTORY"] == "/run/secrets/headroom"
    process, found = worker("scrapy crawl consumer", ENVIRONMENT | environment)
    until(crawl.workers, "the worker to join")
    stop(process, found)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ("is empty", "REDIS_URL: is empty; write the value of REDIS_URL into it"),
        ("is root's alone", "can't be read: Permission denied"),
        ("was missing when the engine started: it made a folder", "can't be read: Is a directory"),
        ("is of two lines", "REDIS_URL"),
        ("has no address", "setting REDIS_URL"),
    ],
)
def test_a_secret_that_is_wrong_ends_the_start_in_one_line_without_telling_it(image, secrets, wrong, reason):
    text = {"is empty": "", "is of two lines": "redis://:hush@a\nredis://:hush@b\n"}.get(wrong, "hush-hush")
    file = secrets("REDIS_URL", text, mode=0o400 if "root" in wrong else 0o444)
    if "folder" in wrong:
        file.unlink()
        file.mkdir()
    environment = ENVIRONMENT | {"PATH": PROGRAMS, "CONNECT_SECONDS": "0"}
    words = image.words("scrapy crawl consumer", uid=WORKER_UID, environment=environment)
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert reason in done.stderr.splitlines()[-1]
    assert "hush" not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_the_probes_of_kubernetes_tell_a_worker_without_work_from_one_without_redis_and_from_a_dead_one(image):
    (worker,) = deployment()["spec"]["template"]["spec"]["containers"]

    def answers():
        found = []
        for name in ("startupProbe", "livenessProbe", "readinessProbe"):
            environment = {"HEARTBEAT_FILE": ALIVE, "PATH": PROGRAMS}
            words = image.words(shlex.join(worker[name]["exec"]["command"]), uid=WORKER_UID, environment=environment)
            found.append(subprocess.run(words, check=False, capture_output=True).returncode == 0)
        return found

    alive = image.place(ALIVE)
    alive.unlink(missing_ok=True)
    assert answers() == [False, False, False]
    alive.write_text("ready\n")
    assert answers() == [True, True, True]
    alive.write_text("waits\n")
    assert answers() == [True, True, False]
    os.utime(alive, (0, 0))
    assert answers() == [False, False, False]
    alive.unlink()


def test_the_engine_is_sent_what_the_steps_copy_and_nothing_else():
    copied = {name for word, arguments in BUILD if word == "COPY" for name in arguments.split()[:-1]}
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert "*" in lines
    assert {line[1:] for line in lines if line.startswith("!")} == copied
