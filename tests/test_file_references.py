"""The references and JSON Schemas of site and plan files say every key, truly."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import jsonschema
import orjson
import pytest
import yaml

from crawler import extract, plans, sites
from crawler.base import yamlfile
from crawler.base.errors import InputError
from crawler.base.models import Fetched
from crawler.base.yaml_schema import parts_of, schema_of
from crawler.plans.plan_file import PlanFile
from testbed import reference_pages

ROOT = Path(__file__).parent.parent
MODELS = {"site": sites.Site, "plan": PlanFile}
SCHEMAS = {kind: orjson.loads((ROOT / "crawler" / f"{kind}s" / f"{kind}.schema.json").read_bytes()) for kind in MODELS}
PAGES = {kind: (ROOT / "docs" / f"{kind}-files.md").read_text(encoding="utf-8") for kind in MODELS}
PARTS = {name: part for model in MODELS.values() for name, part in parts_of(model).items()}
KEYS = [(name, key) for name, part in PARTS.items() for key in part.model_fields]
KIND_OF = {name: kind for kind, model in MODELS.items() for name in parts_of(model)}

# What must stand beside an example for it to be a whole part.
BESIDE = {
    "Site": {
        "name": "a",
        "search": {"url": "https://example.org/?q={query}"},
        "results": {"links": "css:a"},
    },
    "Search": {
        "url": "{base}/?q={query}&p={page}",
        "paging": {"kind": "page"},
    },
    "Results": {"links": "css:a"},
    "Rule": {"select": "css:a"},
    "Content": {"title": "css:h1"},
    "CommentRules": {"each": "css:li", "text": "css:p"},
    "Twin": {"pattern": "/(?P<id>.)", "url": "{base}/{id}"},
    "Joined": {"url": "{base}/{user}", "values": {"user": "css:a"}, "title": "css:h1"},
    ("Joined", "type"): {"url": "{base}/{user}", "values": {"user": "css:a"}, "title": "json:a"},
    ("Joined", "extra"): {"url": "{base}/{user}", "values": {"user": "css:a"}, "type": "json"},
    ("Search", "description"): {},
    ("Results", "fields"): {"links": "css:a", "rows": "css:b"},
    ("Results", "match"): {"links": "css:a", "rows": "css:b"},
    "PageNumbers": {"kind": "page"},
    "Offsets": {"kind": "offset"},
    "PlanFile": {"name": "a", "sites": ["b"], "keywords": {"c": {"required": ["d"]}}},
    ("Results", "type"): {"links": "json:a"},
    ("Content", "type"): {"title": "json:a"},
    ("Rendering", "steps"): {"when": "always"},
    ("Rendering", "seconds"): {"when": "auto"},
    ("PageStep", "timeout"): {"click": "a"},
    "Fill": {"selector": "a", "text": "b"},
    "Press": {"key": "a"},
    "Select": {"selector": "a", "option": "b"},
    "CheckBox": {"selector": "a"},
    "DialogAnswer": {"answer": "accept"},
    "SetCookie": {"name": "a", "value": "b"},
    "Repeat": {"steps": [{"click": "a"}]},
    "KeywordClass": {"optional": ["a", "b"]},
    "SiteUse": {"use": "a", "name": "b", "base": "https://example.org"},
}


def example(kind, number=0):
    """Returns the YAML at the top of a page, or another part of the page's."""
    return re.findall(r"```yaml\n(.*?)```", PAGES[kind], re.DOTALL)[number]


@functools.cache
def validator_of(kind, part=""):
    """Returns what validates by the schema of a kind of files, or of a part of them."""
    definitions = SCHEMAS[kind]["$defs"]
    schema = {"$defs": definitions, "$ref": f"#/$defs/{part}"} if part in definitions else SCHEMAS[kind]
    return jsonschema.Draft202012Validator(schema)


def whole(name, key):
    """Returns a part with the example of one of its keys."""
    (value,) = PARTS[name].model_fields[key].examples
    return BESIDE.get((name, key), BESIDE.get(name, {})) | {key: value}


def test_pages_are_made_from_the_models_and_the_settings():
    """`make reference` writes them."""
    assert {"site": reference_pages.site_files(), "plan": reference_pages.plan_files()} == PAGES
    assert reference_pages.settings() == (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", MODELS)
def test_schemas_are_made_from_the_models(kind):
    """`scrapy site schema > crawler/sites/site.schema.json` writes one, `scrapy plan schema` the other."""
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[kind])
    assert schema_of(MODELS[kind], f"{kind} file") == SCHEMAS[kind]


@pytest.mark.parametrize(("name", "key"), KEYS)
def test_every_key_stands_there_with_a_description_and_an_example_that_loads(name, key):
    field = PARTS[name].model_fields[key]
    kind = KIND_OF[name]
    rows = re.findall(rf"^\| `{key}` \|.*", PAGES[kind], re.MULTILINE)
    row = next(row for row in rows if field.description in row)  # several parts may have the same key
    _key, values, _default, meaning, written = re.split(r" (?<!\\)\| ?", row.removeprefix("| "))[:5]
    assert values and meaning and written, row  # noqa: PT018 -- the row says which

    value = whole(name, key)
    yamlfile.validate(yamlfile.parse(yaml.safe_dump(value, allow_unicode=True), "f"), PARTS[name])
    validator_of(kind, name).validate(value)


@pytest.mark.parametrize("kind", MODELS)
def test_the_schema_refuses_an_unknown_key(kind):
    value = yaml.safe_load(example(kind)) | {"nmae": "a"}
    assert not validator_of(kind).is_valid(value)


@pytest.mark.parametrize(
    "path",
    [*(ROOT / "crawler" / "sites").rglob("*.yaml"), *(ROOT / "plans").glob("*.yaml")],
    ids=lambda path: path.name,
)
def test_files_that_ship_name_their_schema_and_keep_to_it(path):
    text = path.read_text(encoding="utf-8")
    named = re.match(r"# yaml-language-server: \$schema=(\S+)\n", text)[1]
    kind = next(kind for kind in MODELS if named.endswith(f"{kind}.schema.json"))
    assert orjson.loads((path.parent / named).read_bytes()) == SCHEMAS[kind]
    validator_of(kind).validate(yamlfile.parse(text, path.name).value)


def test_the_plan_at_the_top_is_one_and_uses_every_key():
    plan = plans.parse(example("plan"), "plan-files.md", max_seeds=1_000)
    assert len(plan.combinations()) == 14
    from_addresses = example("plan", 1)
    assert plans.parse(from_addresses, "plan-files.md", max_seeds=1_000).file.start
    used = {*yaml.safe_load(example("plan")), *yaml.safe_load(from_addresses), "start_file"}  # which names a file
    assert set(PlanFile.model_fields) == used


def test_the_site_at_the_top_searches_and_reads():
    site = sites.parse(example("site"), "site-files.md")
    validator_of("site").validate(yaml.safe_load(example("site")))
    first, second = site.search_targets(("洪水", "救援"), pages=2, per_page=100, sort="newest")
    assert first.url == "https://board.example.org/search?q=%BA%E9%CB%AE%20AND%20%BE%C8%D4%AE&page=0&size=50&sort=date"
    assert "page=1" in second.url

    results = '<div class=result><h2><a href="/thread/1?sid=9">1</a></h2></div>'
    assert extract.links(page(first.url, results), site).urls == ("https://board.example.org/thread/1",)
    assert extract.links(page(first.url, "<p class=nothing-found>No results"), site).empty

    thread = page(
        "https://board.example.org/thread/1",
        """<h1>Bridge <b>closed</b></h1><p class=byline>by Zhang San on 3 April</p>
        <span class=date>03/04/2026 12:30</span>
        <div class=post><p>The water rises.</p><img src=/1.png><video><source src=/1.mp4></video>
        <a href=/thread/2>more</a><a href=/thread/2/print>print</a><p class=signature>Z.</p></div>
        <p class=replies>7</p><a class=tag>a</a><a class=tag>b</a><a rel=next href=/thread/1?page=2>2</a>""",
    )
    found = extract.fields(thread, site)
    assert (found.title, found.author, found.published) == ("Bridge closed", "Zhang San", "2026-04-03T04:30:00Z")
    assert found.content.startswith("The water rises.")
    assert "Z." not in found.content
    assert found.images == ("https://board.example.org/1.png",)
    assert found.videos == ("https://board.example.org/1.mp4",)
    assert found.extra == {"replies": "7", "tags": ["a", "b"]}
    assert found.next_page == "https://board.example.org/thread/1?page=2"
    assert found.missing == ()
    assert extract.followed(thread, site).urls == ("https://board.example.org/thread/2",)


def test_what_a_page_says_of_a_value_is_what_its_refusal_says():
    with pytest.raises(InputError, match=r"expected an encoding such as utf-8, gbk or big5$"):
        sites.parse(example("site").replace("gbk", "klingon"), "f")
    assert "| `encoding` | an encoding such as utf-8, gbk or big5 |" in PAGES["site"]


def page(url, body):
    return Fetched(url, 200, "text/html; charset=utf-8", body.encode())
