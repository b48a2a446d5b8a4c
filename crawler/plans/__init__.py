"""Plans: an analyst's YAML becomes combinations of keywords, and those become nav seeds in the frontier.

In comes a plan file, `plan_file.py` says what may stand in it; `match.py` and `combinations.py` make combinations of
its keywords. Out come the nav seeds of a `Plan`, which `submission.py` stores and offers and `dryrun.py` only counts.
`registry.py` is what was submitted; `operator.py` is what people do to it afterwards. Read `plan.py` first.
"""

from crawler.plans.dryrun import Check, Overlap, SiteShare, check
from crawler.plans.plan import SEEDS_MAX, Plan, described_sites, load, parse

__all__ = ["SEEDS_MAX", "Check", "Overlap", "Plan", "SiteShare", "check", "described_sites", "load", "parse"]
