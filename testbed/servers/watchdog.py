"""Runs a command that can't outlive its starter: `python -I -S watchdog.py COMMAND ARGUMENT...`.

Standard input must be a pipe whose other end only the starter holds. A watchdog process in the command's process group
waits for that pipe to close, which the kernel does even when the starter is killed, and then kills the whole group, so
grandchildren end too. This process itself becomes the command: its process id and exit status are the command's.

Linux has PR_SET_PDEATHSIG for this, but that signal comes when the starting *thread* ends, doesn't reach grandchildren,
and takes code between fork and exec in a process with threads.
"""

import os
import signal
import sys


def _watch() -> None:
    """Waits until the starter has gone, and kills the process group."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # they are meant for the command
    while os.read(0, 1):
        pass
    os.killpg(0, signal.SIGKILL)


def _main() -> None:
    if os.fork() == 0:
        if os.fork() == 0:  # a grandchild, whose parent ends at once, so that the command doesn't get it as a child
            _watch()
        os._exit(0)
    os.wait()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.execvp(sys.argv[1], sys.argv[1:])  # noqa: S606 -- no shell is wanted


if __name__ == "__main__":
    _main()
