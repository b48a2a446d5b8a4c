"""Plans: an analyst's YAML becomes combinations of keywords, and those become nav seeds.

definition.py    what a plan file may say, with the range of each value
match.py         the `match` expression
combinations.py  keyword classes and `match` -> combinations, counted before they are built
model.py         Plan: read, checked, with its sites; yields the nav seeds
dryrun.py        what a plan would cost: seeds, overlap, pages, hours
"""

from crawler.plans.dryrun import Check, Overlap, SiteShare, check
from crawler.plans.plan import SEEDS_MAX, Plan, load, parse

__all__ = ["SEEDS_MAX", "Check", "Overlap", "Plan", "SiteShare", "check", "load", "parse"]
