"""docs/deploy-scrapyd.md, followed on real daemons: eggs, jobs, their logs, and what a cancelled worker leaves."""

from __future__ import annotations

import copy
import json
import os
import shutil
import signal
import subprocess
import sys
import urllib.error

import pytest
from deploy.clone import make
from deploy.daemon import PASSWORD, USER, Scrapyd, environment
from documents.walk import blocks
from needs import need
from waiting import until

from testbed.servers.process import ROOT

pytestmark = pytest.mark.deploy
PAGE = ROOT / "docs" / "deploy-scrapyd.md"
DAEMON = "http://127.0.0.1:6800"  # in the page's text
PROGRAMS = os.path.dirname(sys.executable)  # noqa: PTH120 -- `resolve` would leave the virtual environment
SECONDS = 300  # ten times what it takes on an idle machine
SEND, START, STOP, SEVERAL = (text for language, text in blocks(PAGE) if language == "sh")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    try:
        import scrapyd  # noqa: F401
        import scrapyd_client  # noqa: F401
    except ImportError as error:
        need(error)
    return tmp_path_factory.mktemp("scrapyd")


@pytest.fixture(scope="module")
def programs(folder):
    return environment(folder / "bare", with_headroom=False)


@pytest.fixture
def settings(redis_url, tmp_path):
    folders = {"ITEMS_DIR": str(tmp_path / "items"), "FILES_STORE": str(tmp_path / "media")}
    return {"REDIS_URL": redis_url, "ALLOW_PRIVATE_ADDRESSES": "1", **folders}


@pytest.fixture
def daemon(tmp_path, programs, settings):
    """A daemon on a node without Headroom."""
    with Scrapyd(tmp_path / "node1", programs, settings) as running:
        yield running


@pytest.fixture
def clone(tmp_path, forum):
    """A clone of this repository, and a home with the daemon's password."""
    folder = make(tmp_path / "clone", forum)
    netrc = tmp_path / ".netrc"
    netrc.write_text(f'machine 127.0.0.1 login {USER} password "{PASSWORD}"\n')
    netrc.chmod(0o600)
    return folder


def type_in(script, folder, daemon, redis_url):
    """Types lines of the page into a shell in a folder; returns the daemons' answers."""
    environment = {
        "HOME": str(folder.parent),
        "PATH": f"{PROGRAMS}:{os.environ['PATH']}",
        "PYTHONPATH": str(folder),
        "REDIS_URL": redis_url,
        "daemon": daemon.url,  # which the page sets in one block for those that follow
    }
    for file in folder.glob("scrapy.cfg"):
        file.write_text(file.read_text("utf-8").replace(DAEMON, daemon.url), "utf-8")
    done = subprocess.run(
        ["sh", "-e", "-c", script.replace(DAEMON, daemon.url)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def schedule(daemon, spider, job, project="headroom", **settings):
    """Returns the line of the shell that starts a worker."""
    words = "".join(f" -d setting={name}={value}" for name, value in settings.items())
    return f"curl -sn {daemon.url}/schedule.json -d project={project} -d spider={spider} -d jobid={job}{words}\n"


def wait_for(daemon, *jobs):
    for job in jobs:
        until(lambda job=job: daemon.state_of(job) == "finished", f"the job {job} to end", SECONDS)


def log_of(daemon, spider, job, project="headroom"):
    return (daemon.logs / project / spider / f"{job}.log").read_text("utf-8")


def test_a_clone_is_sent_and_its_workers_are_started_listed_and_cancelled(daemon, clone, crawl):
    (sent,) = type_in(SEND, clone, daemon, crawl.redis_url)
    assert (sent["status"], sent["project"], sent["spiders"]) == ("ok", "headroom", 2)
    *started, listed = type_in(START, clone, daemon, crawl.redis_url)
    assert [answer["status"] for answer in started] == ["ok", "ok"]
    assert {job["id"] for job in listed["pending"] + listed["running"]} == {"producer-1", "consumer-1"}

    until(lambda: crawl.counts()["executing"] and crawl.counts()["finished"] > 1, "pages to be crawled")
    type_in(STOP, clone, daemon, crawl.redis_url)
    wait_for(daemon, "producer-1", "consumer-1")
    left = crawl.total()
    assert (left["executing"], left["difference"]) == (0, 0)
    assert crawl.counts()["ready"] > 0
    assert crawl.workers() == []
    for spider in ("producer", "consumer"):
        assert "Spider closed (shutdown)" in log_of(daemon, spider, f"{spider}-1")

    script = "".join(schedule(daemon, spider, f"{spider}-2", STOP_WHEN_DONE=1) for spider in ("producer", "consumer"))
    type_in(script, clone, daemon, crawl.redis_url)
    wait_for(daemon, "producer-2", "consumer-2")
    done = crawl.total()
    assert (done["ready"], done["executing"], done["difference"]) == (0, 0, 0)
    items = crawl.items()
    assert len(items) == len({item["id"] for item in items}) > 20
    assert any(crawl.folder.joinpath("media").rglob("*.*"))
    assert [file.name for file in daemon.home.iterdir()] == ["scrapyd.conf"]


def test_workers_outlive_a_daemon_that_is_killed_and_a_job_that_waited_starts_after_it(daemon, clone, crawl):
    type_in(SEND + "scrapy plan submit plans/demo.yaml >&2\n", clone, daemon, crawl.redis_url)
    running = ["producer-1", "consumer-1", "consumer-2", "consumer-3"]
    script = "".join(schedule(daemon, job.partition("-")[0], job) for job in (*running, "consumer-4"))
    type_in(script, clone, daemon, crawl.redis_url)
    until(lambda: len(crawl.workers()) == len(running), "as many workers as the daemon starts", SECONDS, 0.5)
    assert daemon.state_of("consumer-4") == "pending"
    until(lambda: crawl.counts()["executing"] and crawl.counts()["finished"] > 1, "pages to be crawled")

    os.kill(daemon.pid, signal.SIGKILL)
    until(lambda: not daemon.running, "its end")
    again = copy.copy(daemon)
    again._child = None  # `daemon` would end the workers, as whoever starts a process anew does here
    with again:
        until(lambda: again.state_of("consumer-4") == "running", "the job that waited", SECONDS)
        until(lambda: len(crawl.workers()) == len(running) + 1, "its worker beside the others", SECONDS, 0.5)
        assert [again.state_of(job) for job in running] == [None] * len(running)
        type_in(STOP, clone, again, crawl.redis_url)  # it knows no such jobs any more
        assert len(crawl.workers()) == len(running) + 1

        (node,) = {worker["node"] for worker in crawl.workers()}
        crawl.scrapy("nodes", "stop", node)
        wait_for(again, "consumer-4")
        until(lambda: not crawl.workers(), "the end of all workers", SECONDS, 0.5)
        left = crawl.total()
        assert (left["executing"], left["difference"]) == (0, 0)
        script = "".join(schedule(again, name, f"{name}-5", STOP_WHEN_DONE=1) for name in ("producer", "consumer"))
        type_in(script, clone, again, crawl.redis_url)
        wait_for(again, "producer-5", "consumer-5")
    assert (crawl.total()["ready"], crawl.total()["difference"]) == (0, 0)
    items = crawl.items()
    assert len(items) == len({item["id"] for item in items}) > 20


def test_why_a_start_failed_is_in_the_job_s_log_and_a_wrong_password_is_refused(daemon, clone, redis_url):
    type_in(SEND, clone, daemon, redis_url)
    script = schedule(daemon, "consumer", "wrong", SESSION_SECONDS=0)
    script += schedule(daemon, "consumer", "relative", ITEMS_DIR="items")
    script += schedule(daemon, "producer", "nowhere", REDIS_URL="redis://127.0.0.1:1/0", CONNECT_SECONDS=0)
    type_in(script, clone, daemon, redis_url)
    wait_for(daemon, "wrong", "relative", "nowhere")
    reasons = [
        log_of(daemon, spider, job).splitlines()[-1]
        for spider, job in (("consumer", "wrong"), ("consumer", "relative"), ("producer", "nowhere"))
    ]
    assert "setting SESSION_SECONDS: got '0', expected" in reasons[0]
    why = f"since no scrapy.cfg is in {daemon.home} or above"
    assert f"setting ITEMS_DIR: got 'items', expected an absolute path, {why}" in reasons[1]
    assert "Redis at redis://127.0.0.1:1" in reasons[2]
    with pytest.raises(urllib.error.HTTPError, match="401"):
        daemon.ask("daemonstatus.json", password="wrong")


def test_a_project_that_uses_the_add_on_is_sent_to_a_daemon_that_has_headroom(folder, tmp_path, clone, crawl, settings):
    programs = environment(tmp_path / "with_headroom", with_headroom=True)
    with Scrapyd(tmp_path / "node", programs, settings) as daemon:
        (refused,) = type_in(SEND, clone, daemon, crawl.redis_url)  # it would run the one that is installed
        assert refused["status"] == "error"
        assert "Headroom is installed at" in refused["message"]

        script = "scrapy startproject shop . >&2\n"
        script += "echo 'ADDONS = {\"crawler.Headroom\": 100}' >> shop/settings.py\n"
        script += 'echo \'SPIDER_MODULES = ["crawler.spiders", "shop.spiders"]\' >> shop/settings.py\n'
        shop = tmp_path / "shop"
        shop.mkdir()
        assert type_in(script, shop, daemon, crawl.redis_url) == []
        cfg = shop / "scrapy.cfg"
        cfg.write_text(cfg.read_text().replace("#url = http://localhost:6800/", f"url = {daemon.url}/"))
        shutil.copytree(clone / "plans", shop / "plans")
        script = SEND + "scrapy plan submit plans/demo.yaml >&2\n"
        script += "".join(schedule(daemon, name, name, "shop", STOP_WHEN_DONE=1) for name in ("producer", "consumer"))
        sent, *_ = type_in(script, shop, daemon, crawl.redis_url)
        assert (sent["status"], sent["spiders"]) == ("ok", 2)
        wait_for(daemon, "producer", "consumer")
        assert (crawl.total()["ready"], crawl.total()["difference"]) == (0, 0)
        assert len(crawl.items()) > 20
        assert [file.name for file in daemon.home.iterdir()] == ["scrapyd.conf"]


def test_several_daemons_are_sent_the_same_version(daemon, clone, tmp_path, programs, settings):
    with Scrapyd(tmp_path / "node2", programs, settings) as second, (clone / "scrapy.cfg").open("a") as cfg:
        cfg.write(f"\n[deploy:node1]\nurl = {daemon.url}/\n[deploy:node2]\nurl = {second.url}/\n")
        cfg.flush()
        first, last = type_in(SEVERAL, clone, daemon, settings["REDIS_URL"])
        assert first["version"] == last["version"]
        for node in (daemon, second):
            assert node.ask("listversions.json?project=headroom")["versions"] == [first["version"]]
