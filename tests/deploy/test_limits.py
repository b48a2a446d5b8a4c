"""What a worker may take in a real cgroup: the limits, and what is used of them, as the kernel says it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from deploy.cgroups import LimitedCgroup

pytestmark = pytest.mark.deploy
MEMORY_BYTES = 256 * 2**20
CORES = 0.25
# Uses what it gets of the processor for as long as three periods of a quota, then looks once more.
PROGRAM = """
import json, time
from crawler.worker.life.load import Sampler
sampler = Sampler()
until = time.monotonic() + 1
while time.monotonic() < until:
    pass
load = sampler.sample()
print(json.dumps([sampler.memory_bytes, sampler.cores, load.cpu, load.own_cpu, load.own_memory]))
"""


@pytest.fixture
def limited():
    group = LimitedCgroup(memory_bytes=MEMORY_BYTES, cores=CORES)
    yield group
    group.remove()


def test_a_process_in_a_cgroup_sees_its_limits_and_what_it_uses_of_them(limited):
    words = ["sh", "-ec", f'{limited.entering}; exec "$@"', "sh", sys.executable, "-c", PROGRAM]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    memory_bytes, cores, cpu, own_cpu, own_memory = json.loads(done.stdout)
    assert (memory_bytes, cores) == (MEMORY_BYTES, CORES)
    # Of a quota that it uses up. A period's share may fall just before or after the second that is measured.
    assert cpu == pytest.approx(100, abs=30)
    assert own_cpu == pytest.approx(100, abs=30)
    assert own_memory > 100 * 10 * 2**20 / MEMORY_BYTES  # the interpreter alone takes 10 MiB
