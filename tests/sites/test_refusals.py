"""Each wrong key or value of a site or plan file is told by file, line, key, value and what was expected."""

from __future__ import annotations

import copy
import re
from pathlib import Path

import pytest
import yaml

from crawler.base import yamlfile
from crawler.base.errors import InputError, shown
from crawler.plans.plan_file import PlanFile
from crawler.sites import Site

DOCS = Path(__file__).parent.parent.parent / "docs"
WRONG = (12_345_678_901, 1.5, "zzz zzz", "", [], {}, ["zzz zzz"], {"zzz": 1}, [[]])
WORDS_OF_LIBRARIES = re.compile(r"Input|instance|pydantic|Literal|None|function|ValueError|validat")
# A wrong value there is told of what it goes with.
TOLD_ELSEWHERE = {
    "content.fetch.pattern": "content.fetch.url",
    "search.sort": "search.url",
    "search.since_format": "search.url",
    "keywords.road.optional": "keywords.road.choose",
}


def examples():
    """Returns the model, and each example of the reference as the values of its file."""
    return [
        pytest.param(model, yamlfile.parse(block, "x").value, id=kind)
        for kind, model in (("site", Site), ("plan", PlanFile))
        for block in re.findall(
            r"```yaml\n(.*?)```", (DOCS / f"{kind}-files.md").read_text(encoding="utf-8"), re.DOTALL
        )
    ]


def paths_in(value, path=()):
    """Yields the path of each key and entry."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        yield (*path, key)
        yield from paths_in(entry, (*path, key))


def errors_of(model, values, path, wrong):
    """Returns what is told of a file with another value at a path; with a key misspelt, if it is the value."""
    changed = copy.deepcopy(values)
    part = changed
    for key in path[:-1]:
        part = part[key]
    if path[-1] == wrong:
        part[f"{wrong}x"] = part.pop(wrong)
    else:
        part[path[-1]] = wrong
    try:
        text = yaml.safe_dump(changed, allow_unicode=True, sort_keys=False)
        yamlfile.validate(yamlfile.parse(text, "my.yaml"), model)
    except InputError as error:
        return error
    return None


@pytest.mark.parametrize(("model", "values"), examples())
def test_each_wrong_value_is_told_where_it_stands(model, values):
    told = 0
    for path in paths_in(values):
        name = ".".join(map(str, path))
        for wrong in WRONG:
            if (error := errors_of(model, values, path, wrong)) is None:
                continue  # it may stand there
            told += 1
            part = name.rpartition(".")[0]
            assert re.match(r"my\.yaml:\d+: ", str(error)), error
            assert error.key.startswith(name) or error.key in (part, TOLD_ELSEWHERE.get(name)), error
            assert f"got {'nothing' if error.expected == 'this key' else shown(error.value)}, expected" in str(error)
            assert error.expected
            assert not WORDS_OF_LIBRARIES.search(error.expected), error
    assert told > 2 * len(list(paths_in(values)))


@pytest.mark.parametrize(("model", "values"), examples())
def test_each_misspelt_key_is_told_the_right_one(model, values):
    for path in paths_in(values):
        error = isinstance(path[-1], str) and errors_of(model, values, path, path[-1])
        if error and error.value == f"{path[-1]}x":
            assert path[-1] in error.expected, error
