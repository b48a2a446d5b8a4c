"""The moments in a seed's life at which a worker is killed. Each starts a worker and returns it dead."""

from __future__ import annotations

import json
import os
import signal
from contextlib import closing
from pathlib import Path

from faults.wire import Wire
from waiting import until

from crawler import config
from crawler.frontier import scripts

AT_ITEM = 25
AT_CALL = 3  # the first calls of a script may find that Redis doesn't know it yet
PATIENCE_SECONDS = 60.0


def after_claim(rig):
    """Seeds are claimed and the worker has just been told."""

    def answer_passes(data, number, state):
        if number in state["asked"]:
            rig.started[-1].kill()
        return data

    return _on_the_wire(rig, "claim", answer=answer_passes)


def asking_for_robots(rig):
    """It has told the cluster that it asks for a host's robots.txt, and the host is silent."""
    worker = rig.worker()
    os.kill(rig.origin.pid, signal.SIGSTOP)
    try:
        until(lambda: next(rig.redis.scan_iter("hr:{0}:robots_asked:*"), None), "a question for robots.txt")
        worker.kill()
    finally:
        os.kill(rig.origin.pid, signal.SIGCONT)
    return worker


def during_fetch(rig):
    """Requests are on the wire, no answer has come."""
    log = rig.origin.size()
    worker = rig.worker()
    until(lambda: any(agent == worker.name for _, _, agent, _ in rig.origin.requests(log)), "a request")
    worker.kill()
    return worker


def after_files(rig):
    """Some items are in their file and nowhere else."""
    return _behind_sink(rig, "files")


def after_mongo(rig):
    """Some items are in Mongo, but not in Kafka."""
    return _behind_sink(rig, "mongo")


def unacknowledged(rig):
    """Kafka has been sent items, and has not answered: the broker is frozen."""
    broker = rig.kafka_server.pid
    worker = rig.worker()
    until(lambda: rig.ended() > 0, "the first pages")
    os.kill(broker, signal.SIGSTOP)
    try:
        until(lambda: _unread_bytes(rig.kafka_server.port), "messages before the broker")
        worker.kill()
    finally:
        os.kill(broker, signal.SIGCONT)
    return worker


def acknowledged(rig):
    """Every sink has the items; the frontier has not been told."""

    def nothing_passes(_data):
        rig.started[-1].kill()

    return _on_the_wire(rig, "settle", call=nothing_passes)


def mid_finish(rig):
    """Half of the call that finishes the seeds is on the wire."""

    def half_passes(data):
        rig.started[-1].kill()
        return data[: len(data) // 2]

    return _on_the_wire(rig, "settle", call=half_passes)


def finish_unheard(rig):
    """The seeds are finished, and the worker dies before it hears of it."""

    def answer_is_lost(data, number, state):
        if number not in state["asked"]:
            return data
        rig.started[-1].kill()
        return None

    return _on_the_wire(rig, "settle", answer=answer_is_lost)


STAGES = (
    after_claim,
    asking_for_robots,
    during_fetch,
    after_files,
    after_mongo,
    unacknowledged,
    acknowledged,
    mid_finish,
    finish_unheard,
)
SHORT_STAGES = (asking_for_robots, after_mongo, unacknowledged, mid_finish)  # one of each kind


def _behind_sink(rig, name):
    """Puts a sink that kills its worker behind another one."""
    place = list(config.SINKS.default).index(name) + 1
    sinks = [*config.SINKS.default.items()]
    sinks.insert(place, ("kill", "faults.killpoints.KillSink"))
    chosen = rig.settings["ITEM_SINKS"] + ",kill"
    worker = rig.worker(SINKS=json.dumps(dict(sinks)), ITEM_SINKS=chosen, KILL_AT_ITEM=AT_ITEM)
    assert worker.wait(PATIENCE_SECONDS) == -signal.SIGKILL
    return worker


def _on_the_wire(rig, script, *, call=lambda data: data, answer=lambda data, _number, _state: data):
    """Runs a worker whose Redis is behind a wire, until a call of `script` has killed it."""
    digest = scripts.digest(script).encode()
    state = {"calls": 0, "asked": set()}

    def on_call(data, number):
        if digest in data:
            state["calls"] += 1
            if state["calls"] >= AT_CALL:
                state["asked"].add(number)
                return call(data)
        return data

    with closing(Wire(rig.redis_server.port)) as wire:
        wire.on_call = on_call
        wire.on_answer = lambda data, number: answer(data, number, state)
        worker = rig.worker(environment={"REDIS_URL": wire.url})
        until(lambda: not worker.running, "the worker's death")
    return worker


def _unread_bytes(port):
    """Bytes that lie in the kernel for who listens on a loopback port, and hasn't read them."""
    tables = ("/proc/net/tcp", "/proc/net/tcp6")  # Java listens on both at once
    lines = [line for table in tables for line in Path(table).read_text(encoding="ascii").splitlines()[1:]]
    rows = [line.split() for line in lines]
    return sum(int(row[4].split(":")[1], 16) for row in rows if row[1].endswith(f":{port:04X}"))
