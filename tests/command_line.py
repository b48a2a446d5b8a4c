"""Runs `scrapy` commands in this process: 0.02 s where a forked process takes 0.1 s and a new one more than 1 s.

Not `scrapy crawl`, since a process can run a reactor only once. That commands do the same in processes of their own is
what `tests/commands/test_processes.py` shows.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import subprocess
import sys
import threading
import traceback
from pathlib import Path
from unittest import mock

import scrapy.cmdline

from crawler.config import logs

ROOT = Path(__file__).parent.parent
COMMAND_SECONDS = 60.0  # no command of a test takes half as long on a loaded machine
_one_at_a_time = threading.Lock()  # a command's output and environment are those of the whole process


def run(words, environment, *, stdin=b"", timeout_s=COMMAND_SECONDS):
    """Runs a command to its end, in a thread, since the test's own thread may already run an event loop.

    Args:
        words: Those that follow `scrapy` on the command line.
        environment: Variables beyond those of this process; they win.
        stdin: What the command reads, as bytes.
        timeout_s: Longest time, in seconds.

    Returns:
        A `subprocess.CompletedProcess` with text.
    """
    status = None

    def execute():
        nonlocal status
        try:
            scrapy.cmdline.execute(["scrapy", *words])
        except SystemExit as end:
            status = end.code or 0
        except BaseException:  # noqa: BLE001 -- a bug in a command, shown as Python shows it
            traceback.print_exc()
            status = 1

    with _one_at_a_time, _as_if_new(environment, stdin) as (stdout, stderr):
        thread = threading.Thread(target=execute, daemon=True)
        thread.start()
        thread.join(timeout_s)
        if thread.is_alive():
            raise subprocess.TimeoutExpired(words, timeout_s, stdout.getvalue(), stderr.getvalue())
        sys.stdout.flush()
        sys.stderr.flush()
        return subprocess.CompletedProcess(words, status, stdout.getvalue().decode(), stderr.getvalue().decode())


@contextlib.contextmanager
def _as_if_new(environment, stdin):
    """Gives the block what a new process has, and afterwards this process what it had: all that a command may change.

    Yields:
        What the block writes to stdout and to stderr.
    """
    stdout, stderr = io.BytesIO(), io.BytesIO()
    with contextlib.ExitStack() as restored:
        restored.enter_context(mock.patch.dict(os.environ, environment))
        restored.enter_context(contextlib.chdir(ROOT))
        restored.enter_context(mock.patch.object(sys, "path", sys.path.copy()))
        encoding = environment.get("PYTHONIOENCODING", "utf-8")
        for name, raw in {"stdin": io.BytesIO(stdin), "stdout": stdout, "stderr": stderr}.items():
            errors = "backslashreplace" if name == "stderr" else "strict"
            stream = io.TextIOWrapper(raw, encoding=encoding, errors=errors)
            restored.enter_context(mock.patch.object(sys, name, stream))
        restored.enter_context(_logging_restored())
        yield stdout, stderr


@contextlib.contextmanager
def _logging_restored():
    root = logging.root
    handlers, factory = root.handlers.copy(), logging.getLogRecordFactory()
    loggers = [root, *(one for one in root.manager.loggerDict.values() if isinstance(one, logging.Logger))]
    levels = [(logger, logger.level) for logger in loggers]
    captured = logging._warnings_showwarning is not None
    with (
        mock.patch.object(logs.InertRecord, "redact", logs.Redaction()),
        mock.patch("scrapy.utils.log.twisted_log.PythonLoggingObserver"),  # each would stay for good
    ):
        try:
            yield
        finally:
            for handler in set(root.handlers) - set(handlers):
                handler.close()
            root.handlers[:] = handlers
            for logger, level in levels:
                logger.setLevel(level)
            logging.setLogRecordFactory(factory)
            logging.captureWarnings(captured)
