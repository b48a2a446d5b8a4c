"""What the filters of a plan's scope cost: each alone, and the default chain, over a million different addresses.

`python -m benchmarks.scope` prints nanoseconds of the processor for each address, without the loop's own.
"""

from __future__ import annotations

import statistics
import sys
import time

from crawler.scope.candidate import Candidate
from crawler.scope.scope import Scope
from crawler.scope.scope_file import ScopeFile
from crawler.scope.url_filter import UrlFilter

ADDRESSES = 1_000_000
PARTS = 100
HOSTS = 900  # of a general crawl: a filter remembers what it said of 10,000
RULES = {
    "depth": 20,
    "suffixes": ["not .zip", "not .exe", "not .iso", "not .mp4"],
    "hosts": ["*.gov.cn", "*.example.org", "not ads.example.org"],
    "domains": ["example.org", *(f"city{number}.gov.cn" for number in range(HOSTS))],
    "addresses": ["not 10.0.0.0/8", "not 192.168.0.0/16"],
    "deny": ["/print$", r"[?&]sort=", "/calendar/"],
    "allow": [r"/20\d\d/", "/news/"],
    "max_bytes": 2_000_000,
    "content_types": ["text/html", "application/xhtml+xml"],
    "languages": ["zh", "en"],
}


class _Nothing(UrlFilter):
    name = "nothing"

    def refuses(self, candidate: Candidate) -> bool:  # noqa: ARG002 -- it measures the loop
        return False


def candidates() -> list[Candidate]:
    """Returns as many candidates, all of which are in scope: no filter spares the next one its work."""
    return [
        Candidate.of(f"https://www.city{number % HOSTS}.gov.cn/news/2026/11/{number}/report.html?page=2", depth=3)
        for number in range(ADDRESSES)
    ]


def nanoseconds(scope: Scope, addresses: list[Candidate]) -> float:
    """Returns what a scope takes for each address: the median of a hundred parts, since others use the machine, too."""
    part, took_ns = len(addresses) // PARTS, []
    for first in range(0, len(addresses), part):
        began_ns = time.process_time_ns()
        for address in addresses[first : first + part]:
            if scope.refusal(address):
                raise AssertionError(address.url)
        took_ns.append((time.process_time_ns() - began_ns) / part)
    return statistics.median(took_ns)


def main() -> None:
    """Prints a table."""
    addresses = candidates()
    loop_ns = nanoseconds(Scope([_Nothing("")]), addresses)
    for name, value in RULES.items():
        scope = Scope.of(ScopeFile.model_validate({name: value}), {})
        sys.stdout.write(f"{name:15} {nanoseconds(scope, addresses) - loop_ns:6.0f} ns\n")
    whole = nanoseconds(Scope.of(ScopeFile.model_validate(RULES), {}), addresses)
    sys.stdout.write(f"{'all of them':15} {whole:6.0f} ns\n")


if __name__ == "__main__":
    main()
