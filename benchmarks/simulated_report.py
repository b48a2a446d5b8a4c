"""What simulation.py prints of an account."""

from __future__ import annotations

import itertools
import statistics
from collections import defaultdict
from typing import TYPE_CHECKING

from crawler import config

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchmarks.simulated_nodes import Account, Spec

LIMIT_PERCENT = config.NODE_CPU_LIMIT_PERCENT.default
TOLERANCE_SECONDS = 0.005  # turns are given back in whole milliseconds, and Redis counts in them
FULL_SHARE = 0.9  # of what its like carry: from then on a joining node counts as one of them
SMOOTH_SECONDS = 5  # over which a joining node's rate is taken
SETTLED_SECONDS = 15  # after joining, until a joined node's share is looked at


def headrooms(account: Account, specs: Sequence[Spec], joins_s: float, seconds: float) -> None:
    """Prints each kind of node's pages against its headroom: before the others join, and of those after."""
    kinds: dict[tuple[bool, float], list[Spec]] = defaultdict(list)
    for spec in specs:
        kinds[spec.late, spec.other_percent].append(spec)
    print(f"  {'nodes':<28} {'pages/s':>8} {'headroom':>9}   pages/s by headroom: median [least..most]")
    for (late, other), some in sorted(kinds.items()):
        window = (joins_s + SETTLED_SECONDS, seconds) if late else (joins_s / 2, joins_s)
        shares = [share(account, spec, window) for spec in some]
        done = sum(rate(account, spec.name, window) for spec in some)
        room = sum(spec.headroom_pages_per_s(LIMIT_PERCENT) for spec in some)
        what = f"{len(some)}{' joined later' if late else ''}, {other:.0f} % taken"
        spread = f"{statistics.median(shares):.2f} [{min(shares):.2f}..{max(shares):.2f}]"
        print(f"  {what:<28} {done:>8.1f} {room:>9.1f}   {spread}")


def joining(account: Account, specs: Sequence[Spec], joins_s: float, seconds: float) -> None:
    """Prints how soon joining nodes carry FULL_SHARE of what old ones of the same headroom do."""
    late = [spec for spec in specs if spec.late]
    usual = {
        other: statistics.median(
            share(account, spec, (joins_s / 2, joins_s))
            for spec in specs
            if not spec.late and spec.other_percent == other
        )
        for other in {spec.other_percent for spec in late}
    }
    wanted = sum(usual[spec.other_percent] * spec.headroom_pages_per_s(LIMIT_PERCENT) for spec in late)
    carry = "not within the run"
    for second in range(int(joins_s), int(seconds) - SMOOTH_SECONDS):
        window = (second, second + SMOOTH_SECONDS)
        if sum(rate(account, spec.name, window) for spec in late) >= FULL_SHARE * wanted:
            carry = f"within {second - joins_s + SMOOTH_SECONDS:.0f} s"
            break
    firsts = [account.first_s[spec.name] for spec in late if spec.name in account.first_s]
    print(
        f"  {len(late)} joining nodes: first page after {quantile(firsts, 0.5):.1f} s "
        f"(most {max(firsts, default=0):.1f}); {FULL_SHARE:.0%} of what their like carry {carry}"
    )


def evenness(account: Account, specs: Sequence[Spec], window: tuple[float, float], possible: float) -> None:
    """Prints how evenly equal nodes shared too few turns.

    Args:
        possible: Pages a second that the turns allow.
    """
    rates = sorted(rate(account, spec.name, window) for spec in specs)
    even = statistics.mean(rates) or 1.0  # where nothing was fetched
    jain = sum(rates) ** 2 / (len(rates) * sum(one * one for one in rates) or 1)
    print(
        f"  a node's pages/s by the even share of {even:.2f}: least {rates[0] / even:.2f}, "
        f"median {statistics.median(rates) / even:.2f}, most {rates[-1] / even:.2f}; Jain's index {jain:.2f}"
    )
    late = [spec for spec in specs if spec.late]
    firsts = [account.first_s.get(spec.name) for spec in late]
    found = [one for one in firsts if one is not None]
    print(
        f"  {len(late)} late nodes: first page after {quantile(found, 0.5):.1f} s (most {max(found, default=0):.1f}), "
        f"{len(late) - len(found)} without any; "
        f"their mean share {statistics.mean(rate(account, spec.name, window) for spec in late) / even:.2f}"
    )
    print(f"  all together: {sum(rates):.1f} pages/s of {possible:.1f} that the hosts' turns allow")


def claims(account: Account) -> None:
    """Prints what claims brought, and what they waited for."""
    states = {state: number for state, number in account.claims.items() if state != "seeds"}
    number, pages = max(sum(states.values()), 1), max(sum(account.pages.values()), 1)
    locked = states.get("locked", 0)
    print(
        f"  {number:,} claims, {number / pages:.2f} a page, {account.claims['seeds'] / number:.1f} seeds each; "
        f"took ms p50 {quantile(account.claim_ms, 0.5):.1f}, p99 {quantile(account.claim_ms, 0.99):.1f}"
    )
    print(
        f"  {100 * locked / number:.2f} % met the lock and waited ms p50 {quantile(account.lock_ms, 0.5):.1f}, "
        f"p99 {quantile(account.lock_ms, 0.99):.1f}"
    )


def cost(account: Account, cpu_s: float, seconds: float) -> None:
    """Prints what it all cost Redis."""
    pages = max(sum(account.pages.values()), 1)
    scripts = ", ".join(f"{name} {number / pages:.2f}" for name, number in account.calls.most_common())
    for error, number in account.failures.most_common(5):
        print(f"  {number} nodes ended early: {error[:100]}")
    print(
        f"  Redis: {1e6 * cpu_s / pages:.0f} us of CPU a page, {100 * cpu_s / seconds:.0f} % of a core; "
        f"scripts a page: {scripts}"
    )


def politeness(account: Account, delay_s: float) -> None:
    """Holds the hosts' own account against their delay and their one turn."""
    visits: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for host, begun, ended in zip(account.hosts, account.begun, account.ended, strict=True):
        visits[host].append((begun, ended))
    gaps: list[float] = []
    together = 0
    for some in visits.values():
        some.sort()
        for (begun, ended), (after, _) in itertools.pairwise(some):
            gaps.append(after - begun)
            together += after < ended
    soon = sum(gap < delay_s - TOLERANCE_SECONDS for gap in gaps)
    shortest = f"{min(gaps):.3f} s" if gaps else "none"
    print(
        f"  politeness: {len(gaps):,} gaps between starts on {len(visits):,} hosts, the shortest {shortest} "
        f"of {delay_s:g}; too short: {soon}, two at once: {together}"
    )


def share(account: Account, spec: Spec, window: tuple[float, float]) -> float:
    """Returns a node's pages by its headroom."""
    return rate(account, spec.name, window) / spec.headroom_pages_per_s(LIMIT_PERCENT)


def rate(account: Account, name: str, window: tuple[float, float]) -> float:
    """Returns a node's pages a second in whole seconds of a window."""
    seconds = range(int(window[0]), int(window[1]))
    return sum(account.pages[name, second] for second in seconds) / len(seconds)


def quantile(values: Iterable[float], part: float) -> float:
    """Returns a quantile; 0 of nothing."""
    found = sorted(values)
    return found[min(len(found) - 1, int(part * len(found)))] if found else 0.0
