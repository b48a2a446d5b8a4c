"""Runs the contenders alternately, several rounds, and prints the tables.

    make bench ARGS='--rounds 3 --pages 20000 --only aiohttp,files'
    make bench ARGS='--profile files'

The second runs one of ours once and prints where its processor time went.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import sys
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from benchmarks.side_by_side import pages, report
from benchmarks.side_by_side.contenders import CONTENDERS, CRAWLER_CORE, OURS, SERVERS_CORE, Contender, Ours, Round
from benchmarks.side_by_side.install import CACHE, run_folder
from benchmarks.side_by_side.measure import Measurement, measure
from benchmarks.side_by_side.servers import Nginx
from crawler.base.errors import HeadroomError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def main() -> int:
    """Returns 0, or 1 when a run went wrong."""
    options = _options()
    if not {SERVERS_CORE, CRAWLER_CORE} <= os.sched_getaffinity(0):
        print("two cores are needed: one for the servers, one for the crawler", file=sys.stderr)
        return 1
    try:
        wanted = [options.profile] if options.profile else options.only
        contenders = _installed([one for one in CONTENDERS if wanted is None or one.name in wanted])
        pages.write(CACHE / "pages", options.pages)
        if options.profile:
            print(_profile(next(one for one in OURS if one.name == options.profile), options.pages))
            return 0
        results = _run(contenders, options.rounds, options.pages)
    except HeadroomError as error:
        print(error, file=sys.stderr)
        return 1
    titles = {one.name: one.title for one in CONTENDERS}
    now = datetime.now(UTC)
    print(f"\n{options.rounds} rounds of {options.pages:,} pages, {now:%Y-%m-%d}:\n")
    print(report.tables(results, titles))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description="Ours and other crawlers side by side")
    parser.add_argument("--rounds", type=int, default=4, help="of all of them, every second one backwards (default 4)")
    parser.add_argument("--pages", type=int, default=5_000, help="of one run (default 5000)")
    parser.add_argument("--only", type=_names, help=f"some of {','.join(one.name for one in CONTENDERS)}")
    parser.add_argument("--profile", choices=[one.name for one in OURS], help="where one of ours spends its time")
    return parser.parse_args()


def _names(text: str) -> list[str]:
    names, known = text.split(","), {one.name for one in CONTENDERS}
    if unknown := set(names) - known:
        raise argparse.ArgumentTypeError(f"unknown: {', '.join(sorted(unknown))}")
    return names


def _installed(contenders: list[Contender]) -> list[Contender]:
    """Installs them; returns those that can take part, and says why the others can't."""
    there = []
    for one in contenders:
        try:
            one.install()
        except UnavailableError as error:
            print(f"{one.title}: left out. {error}", flush=True)
        else:
            there.append(one)
    return there


def _run(contenders: list[Contender], rounds: int, number: int) -> dict[str, list[Measurement]]:
    """Runs them all.

    Raises:
        HeadroomError: A run failed, or lost a page.
    """
    results: dict[str, list[Measurement]] = {one.name: [] for one in contenders}
    with served() as (folder, nginx):
        for turn in range(rounds):
            # Backwards every second time, so that a machine that grows slower, or quicker, favours nobody.
            for one in reversed(contenders) if turn % 2 else contenders:
                taken = run_one(one, folder / f"{turn}-{one.name}", nginx, number)
                results[one.name].append(taken)
                print(
                    f"round {turn + 1}: {one.title}: {taken.pages_per_min:,.0f} pages/min, "
                    f"{taken.cpu_s:.3f} CPU s for 1,000 pages",
                    flush=True,
                )
    return results


def run_one(one: Contender, folder: Path, nginx: Nginx, number: int) -> Measurement:
    """Does one run; its folder is removed when all went well.

    Raises:
        HeadroomError: It failed, or lost a page.
    """
    folder.mkdir()
    with one.ready(Round(folder, nginx, number)) as job:
        taken = measure(one.name, job.commands, nginx=nginx, pages=number, folder=folder, is_done=job.is_done)
        taken = replace(taken, notes=job.notes())
        job.verify()
    shutil.rmtree(folder)
    return taken


def _profile(one: Ours, number: int) -> str:
    """Runs one of ours under the sampler; returns its tables.

    Raises:
        HeadroomError: The run failed, or lost a page.
    """
    with served() as (folder, nginx):
        one.profile = folder / "profile.json"
        taken = run_one(one, folder / one.name, nginx, number)
        seen = json.loads(one.profile.read_text())
    head = f"{one.title}: {number:,} pages, {1000 * taken.cpu_s:.0f} CPU us for a page"
    return f"{head}\n{report.stages(seen, taken)}"


@contextlib.contextmanager
def served() -> Iterator[tuple[Path, Nginx]]:
    """Gives a folder and the server. This process, and so all servers, stay on their core; crawlers leave it.

    When something goes wrong, the folder stays, with the logs in it.
    """
    os.sched_setaffinity(0, [SERVERS_CORE])
    folder = run_folder("side-by-side")
    with Nginx(folder, CACHE / "pages") as nginx:
        yield folder, nginx
    shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
