"""What the documents show exists: commands, settings, files, make targets."""

from __future__ import annotations

import ast
import functools
import importlib
import re
from pathlib import Path

import pytest
import scrapy_redis
import yaml
from least_rights import acl_rule
from scrapy.settings import default_settings

from crawler import config, plans, settings, sites
from crawler.cli.ledger_words import meaning
from crawler.doctor.checks import GROUPS
from crawler.doctor.finding import MEANINGS
from crawler.frontier.rights import IN_A_CLUSTER

ROOT = Path(__file__).parent.parent
DOCUMENTS = [
    ROOT / "README.md",
    *sorted(ROOT.glob("docs/*.md")),
    *sorted((ROOT / "benchmarks").glob("*.md")),
    ROOT / "tests" / "faults" / "README.md",
]
SCRAPY_REDIS = "".join(path.read_text("utf-8") for path in Path(scrapy_redis.__file__).parent.glob("*.py"))
SETTING = re.compile(r"`([A-Z][A-Z_]{3,})`")
COMMAND = re.compile(r"scrapy (plan|seeds|ledger|nodes|site|items|crawl|frontier|doctor|stats|top)(?: ([a-z]+))?")


@pytest.fixture(params=DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def document(request):
    """The text of each document."""
    return request.param.read_text(encoding="utf-8")


def test_every_setting_exists(document):
    for name in SETTING.findall(document):
        is_ours = name in config.BY_NAME or hasattr(settings, name)
        assert is_ours or hasattr(default_settings, name) or f'"{name}"' in SCRAPY_REDIS, name


def test_every_command_exists(document):
    for name, action in COMMAND.findall(document):
        module = importlib.import_module(f"crawler.commands.{name}")
        assert module.Command
        if name == "crawl" and action:
            is_shown = f'name = "{action}"' in document  # a spider that a page has its reader write
            assert is_shown or importlib.import_module(f"crawler.spiders.{action}")
        elif action and hasattr(module.Command, "actions"):
            assert action in module.Command.actions, f"scrapy {name} {action}"


def test_every_make_target_exists(document):
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for target in re.findall(r"(?:`|^)make ([a-z-]+)", document, re.MULTILINE):
        assert target in targets, target


@pytest.mark.parametrize("path", [*DOCUMENTS, ROOT / "CHANGELOG.md"], ids=lambda path: str(path.relative_to(ROOT)))
def test_headroom_is_installed_from_a_clone_since_its_name_on_the_public_index_is_another_projects(path):
    for what in re.findall(r"pip install ([^`\n]*)", path.read_text(encoding="utf-8")):
        assert not re.search(r"(?<![\w./-])headroom(?![\w./-])", what, re.IGNORECASE), what


def test_every_file_exists(document):
    for path in re.findall(r"(?<![\w/])((?:crawler|plans|benchmarks|testbed|tests)/[\w./-]*)", document):
        assert any((folder / path.rstrip(".")).exists() for folder in (ROOT, ROOT / "crawler")), path


def test_the_rights_in_redis_are_those_that_a_test_crawls_with():
    text = (ROOT / "docs" / "servers.md").read_text(encoding="utf-8")
    assert f"\nACL SETUSER headroom on >PASSWORD {acl_rule('hr')}\n" in text
    assert all(f"+{name}" in text for name in IN_A_CLUSTER)


@functools.cache
def defined_in(path):
    """Returns what a module defines: `function`, `Class`, `Class.method`."""
    names = set()
    for node in ast.parse((ROOT / path).read_text(encoding="utf-8")).body:
        name = getattr(node, "name", None)
        names |= {name} | {f"{name}.{getattr(inner, 'name', None)}" for inner in getattr(node, "body", ())}
    return names


def test_every_place_that_the_architecture_names_exists():
    places = re.findall(r"`([\w/]+\.py):([\w.]+)`", (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8"))
    assert len(places) > 50
    for path, name in places:
        assert name in defined_in(path), f"{path}:{name}"


def test_every_event_is_listed_in_the_architecture():
    listed = set(re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "architecture.md").read_text("utf-8"), re.MULTILINE))
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "crawler").rglob("*.py")]
    assert listed == {name for text in sources for name in re.findall(r"subscribe\(\s*([A-Z]\w+),", text)}


def test_every_site_shown_is_one(document):
    for text in re.findall(r"^```yaml\n(.*?)^```", document, re.DOTALL | re.MULTILINE):
        if "keywords:" not in text and "\nstart" not in text:  # plans are followed, by tests/documents
            assert yaml.safe_load(text)["name"] == sites.parse(text, "a document").name


def headings(text):
    """Returns the anchors that GitHub gives to a document's headings."""
    found = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(path):
    for target, anchor in re.findall(r"\]\((?!https?://)([^)#\s]*)(?:#([^)\s]+))?\)", path.read_text("utf-8")):
        there = (path.parent / target).resolve() if target else path
        assert there.exists(), target
        assert not anchor or anchor in headings(there.read_text("utf-8")), f"{target}#{anchor}"


def test_the_index_leads_to_every_page():
    index = (ROOT / "docs" / "README.md").read_text("utf-8")
    pages = {path.name for path in ROOT.glob("docs/*.md")} - {"README.md"}
    assert {page for page in pages if f"]({page})" not in index} == set()


def test_every_word_of_the_ledger_that_operators_are_told_of_is_one():
    text = (ROOT / "docs" / "operator.md").read_text("utf-8")
    _, _, wrong = text.partition("## When something is wrong")
    words = set(re.findall(r"`([a-z]+-[a-z0-9-]+)`", wrong)) - {"redis-full"}  # a state of workers
    assert words
    assert all(meaning(word) for word in words)


@pytest.mark.parametrize("path", sorted((ROOT / "plans").glob("*.yaml")), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_example_plan_can_be_checked(path):
    check = plans.check(plans.load(str(path), max_seeds=config.PLAN_MAX_SEEDS.default))
    assert check.nav_seeds + check.start_pages > 0


def test_every_check_and_state_of_the_doctor_has_its_row():
    text = (ROOT / "docs" / "operator.md").read_text("utf-8")
    section = text.partition("## Is it fit to run?")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([\w-]+)` \| (.*?) \|", section, re.MULTILINE)
    states = [(state.value, meaning) for state, meaning in MEANINGS.items()]
    assert rows == states + [(check.name, check.looks_at) for group in GROUPS for check in group.checks]
