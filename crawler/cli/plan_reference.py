"""docs/plan-files.md, made from the model of a plan file: `scrapy plan reference > docs/plan-files.md`."""

from __future__ import annotations

from crawler.cli.file_reference import reference
from crawler.plans.plan_file import PlanFile

INTRODUCTION = """\
# Plan files

Made from `crawler/plans/plan_file.py` by `scrapy plan reference`; change it there.

A plan is a YAML file: what to look for, where, how far and how often. `plans/template.yaml` is one to copy.

```yaml
# yaml-language-server: $schema=plan.schema.json
name: flood-2026
sites: # names of site files; software that many places run takes its place here, and a name of your own for it
  - demo_forum
  - {use: mediawiki, name: city-wiki, base: "https://wiki.example.org/w"}
keywords: # classes of words, by names of your own
  region: {optional: [重庆, 四川]} # tried one at a time: 重庆; 四川
  person: {optional: [Zhang San, 李四]}
  event: {required: [洪水], optional: [救援, 停电]} # 洪水 救援; 洪水 停电
  road: {optional: [A1, A2, A3], choose: 2} # A1 A2; A1 A3; A2 A3
match: region and (event or person or road) # 2 x (2 + 2 + 3) = 14 combinations
pages: 5 # of results, for each combination and site
per_page: 20
sort: newest
since: 2026-11-01
schedule: every 30m
```

`scrapy plan check FILE` shows each search that a plan makes and what it may cost, and names whatever is wrong with the
file: line, key, value, what was expected, and the keys that may stand there. `scrapy plan submit FILE` refuses a file
that is wrong as a whole: nothing of it is crawled. [Site files](site-files.md) have a page of their own.

Editors that know the YAML language server complete and check keys: `scrapy plan schema > plan.schema.json` writes the
schema, and the first line above names it, from the file's own folder.

Words that YAML reads as something else stand in quotes: "119", "no", "12:30", "#hashtag", "key: value".
"""

HEADINGS = {"PlanFile": "The plan", "SiteUse": "An entry of `sites`", "KeywordClass": "A class of `keywords`"}


def plan_reference() -> str:
    """Returns the document."""
    return INTRODUCTION + reference(PlanFile, HEADINGS)
