"""Runs all checks, part after part, and says at the end how long each took: `make ci`.

CI runs the same after it has installed what they need (.ci/run), on two processors. The first part that fails ends it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

# Part -> its target and the minutes that it may take on two processors with nothing beside it: 30 in all.
PARTS = {"test": ("test", 10), "deploy": ("deploy-test", 3), "faults": ("faults", 17)}


def main() -> int:
    """Runs the parts; returns the exit status of the first that fails."""
    took, status = {}, 0
    for part, (target, _minutes) in PARTS.items():
        begun = time.monotonic()
        status = subprocess.run(["make", "--silent", target, "FAULTS=short"], check=False, env=os.environ).returncode
        took[part] = (time.monotonic() - begun) / 60
        if status:
            break
    for part, minutes in took.items():
        budget = PARTS[part][1]
        print(f"{part}: {minutes:.1f} minutes, of {budget}{'  OVER ITS BUDGET' if minutes > budget else ''}")
    print(f"all: {sum(took.values()):.1f} minutes, of {sum(budget for _, budget in PARTS.values())}")
    return status


if __name__ == "__main__":
    sys.exit(main())
