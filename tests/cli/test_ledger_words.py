"""The tables of the ledger's words against all code that says such words."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from crawler.cli.ledger_words import NOTES, REASONS, legend, meaning
from crawler.frontier.ledger import COUNTS, JUNK
from crawler.worker.claiming.outcomes import OUT_OF_MEMORY

CRAWLER = Path(__file__).parents[2] / "crawler"
WORD = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
# What says a word -> the place of the word among its arguments.
SAYS = {
    "ExtractError": 0, "AnswerError": 0, "OddHeadError": 0, "DropItem": 0, "refuse": 0,
    "SinkRejectedError": 1, "ledger_reason": 1, "drop": 2,
}  # fmt: skip
SAYS_AFTER_OPERATION = ("Outcome", "decide_outcome", "end_at_once", "Settlement")  # first `retry`, `finish` ...


def constants(tree):
    """Returns a module's constants that are texts, by name."""
    assigned = [node for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)]
    texts = {node.targets[0].id: getattr(node.value, "value", None) for node in assigned}
    return {name: text for name, text in texts.items() if isinstance(text, str) and WORD.fullmatch(text)}


def texts_in(node, names):
    """Returns the texts that an expression may be, as far as they are written down."""
    inner = [one for one in ast.walk(node) if isinstance(one, ast.Constant | ast.Name)]
    found = {names.get(one.id) if isinstance(one, ast.Name) else one.value for one in inner}
    return {text for text in found if isinstance(text, str) and WORD.fullmatch(text)}


class Said(ast.NodeVisitor):
    """Collects the reasons and the notes that a module says."""

    def __init__(self, names):
        self.names = names
        self.reasons, self.notes = set(), set()

    def visit_Call(self, node):
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        arguments = [*node.args, *(one.value for one in node.keywords if one.arg == "reason")]
        place = SAYS.get(name, len(arguments))
        if place < len(arguments) and isinstance(arguments[place], ast.Constant | ast.Name):
            self.reasons |= texts_in(arguments[place], self.names)
        if name in SAYS_AFTER_OPERATION and len(arguments) > 1:
            operations = texts_in(arguments[0], {})
            said = texts_in(arguments[-1 if name == "Settlement" else 1], self.names)
            self.reasons |= said if operations & {"retry", "fail"} else set()
            self.notes |= said if "finish" in operations else set()
        self.generic_visit(node)

    def visit_FunctionDef(self, node):
        if node.name == "_reason":
            returned = [one for one in ast.walk(node) if isinstance(one, ast.Return)]
            self.reasons |= {text for one in returned for text in texts_in(one, self.names)}
        self.generic_visit(node)

    def visit_Assign(self, node):
        if getattr(node.targets[0], "attr", "") == "note":
            self.notes |= texts_in(node.value, self.names)
        self.generic_visit(node)


def said_in_python():
    """Returns the reasons and the notes that Python says."""
    trees = {path: ast.parse(path.read_text("utf-8")) for path in CRAWLER.rglob("*.py")}
    everywhere = {name: text for tree in trees.values() for name, text in constants(tree).items()}
    reasons, notes = set(), set()
    for path, tree in trees.items():
        said = Said(everywhere | constants(tree))
        said.visit(tree)
        reasons |= said.reasons
        notes |= said.notes
        if path.parent.name == "pipelines":  # whose sinks say words in tables
            reasons |= {text for text in constants(tree).values() if "-" in text}
    return reasons, notes


def said_in_lua():
    """Returns the reasons and the notes that Lua says."""
    text = "".join(path.read_text("utf-8") for path in CRAWLER.rglob("*.lua"))
    reasons = re.findall(r"make_failed\(.*'([a-z-]+)'\)", text) + re.findall(
        r"reasons, fingerprint\) or '([a-z]+)'", text
    )
    notes = set(re.findall(r"book(?:_all)?\([^,]+, '([a-z-]+)'", text)) - {*COUNTS}
    return set(reasons), notes


def test_every_word_that_is_said_is_explained_and_no_other():
    (python_reasons, python_notes), (lua_reasons, lua_notes) = said_in_python(), said_in_lua()
    counted_at_last = OUT_OF_MEMORY.reason  # postponed before, see HandBacks
    reasons = python_reasons | lua_reasons | {counted_at_last, "http-206"}
    assert reasons == set(REASONS)
    assert python_notes | lua_notes | {"script-route", "past-the-end", "not-asked", JUNK} == set(NOTES)


def test_a_status_and_a_word_of_a_users_own():
    assert meaning("http-404") == "its host answers with status 404: there is no such page for us"
    assert meaning("http-503") == "its host answers with status 503: its host is in trouble"
    assert meaning("http-206") == REASONS["http-206"]
    assert meaning("not-about-dogs") == ""


def test_the_legend_has_every_word_within_its_width():
    lines = legend(60).splitlines()
    assert max(map(len, lines)) <= 60
    assert {*REASONS, *NOTES} <= {line.split()[0] for line in lines if line.startswith("  ") and line.split()}
