"""Who dies with the lock in hand keeps the others off for no longer than the lock lives."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from faults.rig import FULL, HERE, in_time
from runner import ROOT
from waiting import until

pytestmark = pytest.mark.faults

KILLS, CONTENDERS = (50, 16) if FULL else (3, 4)
LOCK_MS = 2_000  # LOCK_MILLISECONDS' default
SEEDS = 2_000


def test_a_claimant_dies_holding_the_lock(files_rig, row, tmp_path):
    """The next claim comes within the lock's life and a second; no seed is given to two."""
    rig = files_rig
    rig.offer(rig.origin.urls(SEEDS))
    output = tmp_path / "claims.tsv"
    output.touch()
    contenders = [_contender(rig, output) for _ in range(CONTENDERS)]
    waits = []
    try:
        for contender in contenders:
            assert contender.stdout.readline() == "ready\n"
        for _ in range(KILLS):
            dying = _contender(rig, output, "--die")
            assert dying.stdout.readline() == "held\n"
            dying.kill()
            killed = time.monotonic()
            dying.communicate()
            waits.append(until(lambda killed=killed: _next_claim(output, killed), "the next claim") - killed)
    finally:
        for contender in contenders:
            contender.kill()
            contender.communicate()
    claims = [line.split("\t") for line in output.read_text().splitlines()]
    twice = sum(accepted == "0" for _, _, accepted in claims)  # a second valid claim makes the first one's end refused
    row(
        f"claimant killed holding the lock, {KILLS} times, {CONTENDERS} contenders",
        next_claim_s_at_most=f"{max(waits):.2f}",
        two_valid_claims=twice,
        claims=len(claims),
    )
    assert twice == 0
    assert in_time(max(waits), LOCK_MS / 1000 + 1)
    assert rig.total()["difference"] == 0


def _contender(rig, output, *words):
    command = [sys.executable, str(HERE / "contender.py"), rig.redis_server.url, str(LOCK_MS), str(output), *words]
    return subprocess.Popen(command, cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, text=True)


def _next_claim(output, since):
    lines = output.read_text().splitlines()
    return next((at for line in lines[-2_000:] if (at := float(line.partition("\t")[0])) > since), None)
