"""Runs one command on some cores and writes down what it took: `meter.py REPORT CORES COMMAND ARGUMENT...`.

A process of its own, since the kernel adds up what ended children took: here that is this one command, with all that it
started and waited for.
"""

import json
import os
import signal
import sys
import time


def main() -> None:
    """Runs the command; ends with its status."""
    report, cores, *command = sys.argv[1:]
    os.sched_setaffinity(0, [int(core) for core in cores.split(",")])
    begun = time.monotonic()
    child = os.posix_spawnp(command[0], command, os.environ)
    signal.signal(signal.SIGTERM, lambda number, _frame: os.kill(child, number))  # who may have to be told to end
    _pid, status, usage = os.wait4(child, 0)
    took = {
        "whole_s": time.monotonic() - begun,
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "peak_bytes": usage.ru_maxrss * 1024,  # of its largest process; Linux counts in KiB
    }
    with open(report, "w", encoding="ascii") as file:  # noqa: PTH123 -- os has been enough so far
        json.dump(took, file)
    sys.exit(os.waitstatus_to_exitcode(status) and 1)


if __name__ == "__main__":
    main()
