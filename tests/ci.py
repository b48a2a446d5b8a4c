"""Runs all checks, part after part; the last one says how long each took: `make ci`.

CI runs the same after it has installed what they need (.ci/run), on two processors. The first part that fails ends it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

from parts import CI_MINUTES, CI_TOOK, took_line

# What of the Makefile runs each part.
TARGETS = {
    "lint": "lint",
    "test": "tests",
    "deploy": "deploy-test",
    "faults": "faults-together",
    "alone": "faults-alone",
}


def main() -> int:
    """Runs the parts; returns the exit status of the first that fails."""
    took_lines = []
    # Beside the style's check, which keeps one processor busy: pytest reads all tests, and keeps what it made of them.
    reading = subprocess.Popen([sys.executable, "-m", "pytest", "--collect-only", "-qq"], stdout=subprocess.DEVNULL)
    for part in CI_MINUTES:
        begun = time.monotonic()
        # The last part's pytest prints the lines, so that the whole ends with what pytest says in closing.
        environment = os.environ | {"FAULTS": "short", CI_TOOK: "\n".join(took_lines)}
        status = subprocess.run(["make", "--silent", TARGETS[part]], check=False, env=environment).returncode
        reading.wait()  # tests that can't be read fail in their part
        if status:
            return status
        took_lines.append(took_line(part, time.monotonic() - begun))
    return 0


if __name__ == "__main__":
    sys.exit(main())
