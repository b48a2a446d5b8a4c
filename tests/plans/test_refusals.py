"""Bad plan files: one message each, with file, line, key, value and what was expected."""

from pathlib import Path

import pytest

from crawler import plans
from crawler.base.errors import InputError

HEAD = "name: test\nsites: [board]\nkeywords: {a: {optional: [x, y]}, none: {}}\n"
BLOCK = "name: test\nsites:\n  - board\nkeywords:\n  a:\n    optional:\n      - x\n"
HUNDRED = "[" + ", ".join(f"w{number}" for number in range(100)) + "]"
LONG = "长" * 200

KEYS = (
    "budget, feeds, follow, keywords, match, match_text, name, order, pages, per_page, priority, schedule, scope, "
    "searches, since, sitemaps, sites, sort, start, start_file"
)
CLASS_NAME = "a class name of small letters, digits and _, other than and, or"
SITE_FORMS = "a site's name, {use: NAME, name: NEW-NAME, base: https://...}, or {use: NAME, hosts: [...]}"
NO_SITE = "an address that `follow.never` doesn't name, on a host of one of the sites; `any` has all others"
SCHEDULES = "every 30m, every 2h or every 1d; from 1m to 366d"

KEYS_AND_VALUES = [
    ("sites: [board]\nkeywords: {a: {optional: [x]}}", ":1: name", "nothing", "this key"),
    ("name: test\nkeywords: {a: {optional: [x]}}", ":1: sites", "nothing", "this key"),
    ("name: test\nsites: [board]", ":1: keywords", "nothing", "this key, or start: addresses to begin with"),
    (HEAD + "budget: {items: 0}", ":4: budget.items", "0", "at least 1"),
    (HEAD + "page: 3", ":4: page", "'page'", f"pages (did you mean it?); keys here: {KEYS}"),
    (HEAD + "pages: 0", ":4: pages", "0", "at least 1"),
    (HEAD + "pages: 1001", ":4: pages", "1001", "at most 1000"),
    (HEAD + "per_page: 501", ":4: per_page", "501", "at most 500"),
    (HEAD + "sort: best", ":4: sort", "'best'", "'newest' or 'relevance'"),
    (HEAD + "since: 2026-02-30", ":4: since", "'2026-02-30'", "a day such as 2026-11-01"),
    (HEAD + "since: 2026-W01-1", ":4: since", "'2026-W01-1'", "a day such as 2026-11-01"),
    (HEAD + "since: 20261101", ":4: since", "'20261101'", 'text: put it in quotes, "20261101"'),
    (HEAD + "schedule: every 30s", ":4: schedule", "'every 30s'", SCHEDULES),
    (HEAD + "schedule: every 367d", ":4: schedule", "'every 367d'", SCHEDULES),
    (HEAD + "schedule: every 0m", ":4: schedule", "'every 0m'", SCHEDULES),
    (HEAD.replace("test", "Flood 2026"), ":1: name", "'Flood 2026'", "1 to 64 of a-z, 0-9 and -"),
    (HEAD.replace("test", '"a\\n"'), ":1: name", r"'a\n'", "1 to 64 of a-z, 0-9 and -"),
]
START = "name: test\nstart: [https://a.test/]\n"
BEGINNINGS = [
    (
        START.replace("https://a.test/", "a.test"),
        ":2: start.0",
        "'a.test'",
        "an http(s) address",
    ),
    (
        START.replace("https:", "ftp:"),
        ":2: start.0",
        "'ftp://a.test/'",
        "an http(s) address",
    ),
    ("name: test\nstart: []", ":2: start", "[]", "at least 1 item"),
    ("name: test\nfeeds: []", ":2: feeds", "[]", "at least 1 item"),
    (
        START.replace("a.test", "*.a.test"),
        ":2: start.0",
        "'https://*.a.test/'",
        "the address of one page; which hosts a site reads, and how far links lead, other keys say",
    ),
    (
        START + "follow: {list_types: [lists]}",
        ":3: follow.list_types.0",
        "'lists'",
        "'article', 'forum', 'product', 'collection', 'listing', 'documentation' or 'service'",
    ),
    (START + "budget: {items: 0}", ":3: budget.items", "0", "at least 1"),
    (START + "pages: 3", ":3: pages", "3", "keywords beside it: it says how sites are searched for them"),
    (
        START + "match_text: true",
        ":3: match_text",
        "True",
        "keywords beside it: it says how sites are searched for them",
    ),
    (START + "follow: {never: [a.test]}", ":2: start.0", "'https://a.test/'", NO_SITE),
    (START + "sitemaps: [x]", ":3: sitemaps.0", "'x'", "an http(s) address"),
    (START + "keywords: {}", ":3: keywords", "{}", "at least 1 item"),
    (START + "follow: {depth: -1}", ":3: follow.depth", "-1", "at least 0"),
    (START + "priority: 10", ":3: priority", "10", "at most 9"),
    (START + "follow: {hosts: all}", ":3: follow.hosts", "'all'", "'own' or 'any'"),
    (
        START + "follow: {allow: ['(']}",
        ":3: follow.allow.0",
        "'('",
        "a regular expression in RE2's syntax (missing ): ()",
    ),
    (START + "start_file: [../x]", ":3: start_file.0", "'../x'", "a plan that is read from a file"),
    (
        START + "sites: [{use: web, hosts: ['a*.b']}]",
        ":3: sites.0.hosts",
        "['a*.b']",
        "a host such as www.example.org, *.example.org, or *",
    ),
    (
        START + "sites: [{use: web, hosts: [b.test]}]",
        ":2: start.0",
        "'https://a.test/'",
        NO_SITE,
    ),
    (
        START + "sites: any\nkeywords: {a: {required: [x]}}",
        ":3: sites",
        "['web']",
        "at least one site with a search, which keywords are for, or order: focused",
    ),
]
KEYWORDS = [
    (BLOCK + "      - 119", ":8: keywords.a.optional.1", "'119'", 'text: put it in quotes, "119"'),
    (BLOCK + "      - '  '", ":8: keywords.a.optional.1", "'  '", "at least 1 character"),
    (BLOCK + "      - " + "a" * 201, ":8: keywords.a.optional.1", f"'{'a' * 119}...", "at most 200 characters"),
    (BLOCK + "  b:", ":8: keywords.b", "nothing", "a mapping, whose keys may be choose, optional, required"),
    (BLOCK + "  and: {}", ":8: keywords.and", "'and'", CLASS_NAME),
    (BLOCK + "  Event: {}", ":8: keywords.Event", "'Event'", CLASS_NAME),
    (BLOCK + "      - x\n    choose: 2", ":9: keywords.a.choose", "2", "at most 1, as optional has 1 different words"),
    (BLOCK + "    choose: 0", ":8: keywords.a.choose", "0", "at least 1"),
]
SITES = [
    (
        HEAD.replace("board", "bord"),
        ":2: sites.0",
        "'bord'",
        "the name of a site: unknown site 'bord', neither built in nor in SITES_DIR ({sites_dir}); did you mean board?",
    ),
    (HEAD.replace("[board]", "[]"), ":2: sites", "[]", "at least 1 item"),
    (HEAD.replace("board", "3"), ":2: sites.0", "3", SITE_FORMS),
    (HEAD.replace("board", "{use: board, name: b}"), ":2: sites.0", "{'use': 'board', 'name': 'b'}", SITE_FORMS),
    (HEAD.replace("board", "{use: board, name: b, base: b.c}"), ":2: sites.0.base", "'b.c'", "an http(s) URL"),
    (
        BLOCK.replace("- board", "- board\n  - board"),
        ":4: sites.1",
        "'board'",
        "each site once; {use, name, base} gives it another name",
    ),
    (
        HEAD.replace("board", "software"),
        ":2: sites.0",
        "'software'",
        "the place of a software: {use: software, name: ..., base: https://...}",
    ),
    (
        BLOCK.replace("board", "old_board") + "      - 😀",
        ":8: keywords.a.optional.1",
        "['😀']",
        "site old_board searches in gbk, which can't write '😀'",
    ),
]
COMBINATIONS = [
    (HEAD + "match: a and (a", ":4: match", "'a and (a'", "a closing parenthesis for the one at character 7"),
    (HEAD + "match: a and none", ":4: match", "'a and none'", "at least one combination: none has no words"),
    (HEAD.replace("[x, y]", "[]"), ":3: keywords", "['a', 'none']", "words in at least one class"),
    (
        HEAD.replace("[x, y]", f"{HUNDRED}, choose: 5"),
        ":3: keywords",
        "'376437600 nav seeds (75287520 combinations x 5 pages on all sites)'",
        "at most 100000 (PLAN_MAX_SEEDS): fewer words or pages, or a smaller choose",
    ),
]


def refusal(text, sites_dir):
    with pytest.raises(InputError) as caught:
        plans.parse(text, "plan.yaml", sites_dir=sites_dir, max_seeds=100_000)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "where", "got", "expected"), KEYS_AND_VALUES + BEGINNINGS + KEYWORDS + SITES + COMBINATIONS
)
def test_one_message_says_what_is_wrong_where(text, where, got, expected, sites_dir):
    assert (
        refusal(text, sites_dir)
        == f"plan.yaml{where}: got {got}, expected {expected.replace('{sites_dir}', sites_dir)}"
    )


def test_a_url_that_gets_too_long_is_refused_before_anything_is_sent(sites_dir):
    five = ", ".join(LONG[:-1] + end for end in "东南西北中")
    said = refusal(HEAD.replace("[x, y]", f"[{five}], choose: 5"), sites_dir)
    assert said.startswith("plan.yaml:3: keywords: got ['长")
    assert "expected site board: URL of 9" in said


def test_every_site_and_the_logic_are_named_at_once(sites_dir):
    text = HEAD.replace("[board]", "[bord, board, board, software]") + "match: a and ("
    with pytest.raises(InputError) as caught:
        plans.parse(text, "plan.yaml", sites_dir=sites_dir, max_seeds=100_000)
    keys = [error.key for error in (caught.value, *caught.value.further)]
    assert keys == ["sites.0", "sites.2", "sites.3", "match"]


@pytest.mark.parametrize(("max_seeds", "allowed"), [(20, True), (19, False), (1, False)])
def test_plan_max_seeds_is_the_last_number_allowed(plan, max_seeds, allowed):
    keywords, more = "{a: {optional: [x, y]}}", ("pages: 5",)
    sites = "[board, {use: board, name: b, base: 'https://b.example'}]"
    if allowed:
        assert len(list(plan(keywords, *more, sites=sites, max_seeds=max_seeds).nav_seeds(1))) == 4
    else:
        with pytest.raises(InputError, match=rf"20 nav seeds \(2 combinations x 10 pages.*at most {max_seeds} "):
            plan(keywords, *more, sites=sites, max_seeds=max_seeds)


def test_a_broken_site_file_names_itself(sites_dir):
    file = Path(sites_dir) / "broken.yaml"
    file.write_text("name: broken\nserch: {}\n")
    said = refusal(HEAD.replace("[board]", "[broken]"), sites_dir)
    assert said.startswith(f"{file}:2: serch: got 'serch', expected search (did you mean it?)")


def test_a_file_that_can_not_be_read_says_why(tmp_path, sites_dir):
    for path, problem in ((tmp_path / "none.yaml", "no such file"), (tmp_path, "a directory")):
        with pytest.raises(InputError, match=f"^{path}: got '{problem}', expected a file"):
            plans.load(str(path), sites_dir=sites_dir, max_seeds=1)
