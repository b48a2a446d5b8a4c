import signal
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import has_ended, until

from crawler.base.errors import UnavailableError
from testbed.servers import Process, Server, kafka
from testbed.servers.process import PORTS, free_port

pytestmark = [
    pytest.mark.faults,  # servers are started, killed and started again
    pytest.mark.process,
]

STARTER = """
import signal, sys, time
from pathlib import Path
from testbed.servers import Process
signal.signal(signal.SIGINT, signal.SIG_DFL)  # who runs in the background inherits that it is ignored
process = Process("family", ["sh", "-c", "sleep 600 & echo $!; wait"], Path(sys.argv[1]))
process.start()
while not process.log.read_text().strip():
    time.sleep(0.01)
print(process.pid, process.log.read_text().strip(), flush=True)
time.sleep(600)
"""

BROKEN_MAVEN = """#!/bin/sh
for word; do
    case $word in -DoutputDirectory=*) mkdir -p "${word#*=}" ;; esac
done
echo no route
exit 1
"""


def wait_for_line(process):
    until(lambda: process.log.read_text().endswith("\n"), "a line in the log")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_process_and_its_children_end_with_their_starter(number, tmp_path):
    with subprocess.Popen([sys.executable, "-c", STARTER, str(tmp_path)], stdout=subprocess.PIPE) as starter:
        pids = [int(word) for word in starter.stdout.readline().split()]
        starter.send_signal(number)
        starter.communicate()
    assert len(pids) == 2
    until(lambda: all(map(has_ended, pids)), "the end of both")


def test_a_stubborn_process_is_killed_when_its_time_is_up(tmp_path):
    code = "import signal; signal.signal(15, signal.SIG_IGN); print(1, flush=True); signal.pause()"
    with Process("stubborn", [sys.executable, "-c", code], tmp_path) as process:
        wait_for_line(process)
        assert process.stop(timeout_s=0.1) == -signal.SIGKILL
        assert not process.running


class Silent(Server):
    START_SECONDS = 0.2

    def _answers(self):
        return False


def test_a_server_that_ends_at_start_is_an_error_with_its_last_log_line(tmp_path):
    with pytest.raises(UnavailableError, match=r"oven ended at start; last of .*oven.log: no gas$"):
        Silent("oven", ["sh", "-c", "echo no gas; exit 1"], tmp_path).start()


def test_ports_are_no_ephemeral_ones():
    first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    assert first >= PORTS.stop
    assert free_port() in PORTS


def test_no_port_is_drawn_twice_before_a_server_listens_there():
    draw = "from testbed.servers.process import free_port\nprint(*(free_port() for _ in range(100)), flush=True)"
    command = [sys.executable, "-c", f"{draw}\ninput()"]
    starters = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(3)]
    drawn = [port for starter in starters for port in starter.stdout.readline().split()]
    for starter in starters:
        starter.communicate(b"\n")
    assert len(set(drawn)) == len(drawn) == 300


def test_a_failed_download_leaves_no_half_broker(tmp_path, monkeypatch):
    (tmp_path / "mvn").write_text(BROKEN_MAVEN)
    (tmp_path / "mvn").chmod(0o755)
    (tmp_path / "java").symlink_to("/bin/true")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(UnavailableError, match=r"maven failed with status 1; last of .*: no route"):
        kafka.Kafka(tmp_path).start()
    assert [path.name for path in (tmp_path / "cache/headroom").iterdir()] == [f"{kafka.JARS}.lock"]
