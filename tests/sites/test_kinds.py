"""A site file takes over what its kind says, and says itself what is other."""

import pytest

from crawler import sites
from crawler.base.errors import InputError
from crawler.sites import kinds


def site(*lines):
    return sites.parse("\n".join(("name: mine", *lines)), "mine.yaml")


@pytest.mark.parametrize("kind", kinds.names())
def test_three_lines_make_a_site_of_each_kind(kind):
    made = site(f"kind: {kind}", "base: https://x.example/at")
    assert (made.name, made.kind, made.needs_base) == ("mine", kind, False)
    if made.search.description:
        assert made.description_url == "https://x.example/at"
        return
    assert all(target.url.startswith("https://x.example/at") for target in _targets(made))
    assert _targets(made) == _targets(sites.load(kind).named("mine", "https://x.example/at"))


def _targets(of):
    return of.search_targets(["flood"], pages=2, per_page=10, sort="newest")


def test_own_keys_go_before_those_of_the_kind_one_by_one():
    made = site("kind: mediawiki", "base: https://x.example", "content:", "  title: css:h2", "  images:")
    wiki = sites.load("mediawiki").definition()["content"]
    assert made.definition()["content"] == {
        **{name: rule for name, rule in wiki.items() if name != "images"},
        "title": {"select": "css:h2"},
    }


def test_a_part_of_another_kind_or_type_takes_over_nothing():
    made = site(
        "kind: mediawiki",
        "base: https://x.example",
        'search: {url: "{base}/?q={query}&p={page}", paging: {kind: page}}',
        "results: {type: json, links: json:hits}",
    )
    assert made.definition()["search"]["paging"] == {"kind": "page"}
    assert made.definition()["results"] == {"type": "json", "links": "json:hits"}


def test_what_equals_a_default_survives_redis():
    made = site("kind: mediawiki", "base: https://x.example", "search: {max_per_page: 1000}")
    assert sites.Site.from_definition(made.definition()) == made
    assert made.search.max_per_page == 1_000


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["kind: mediawik"], "mine.yaml:2: kind: got 'mediawik', .*did you mean mediawiki"),
        (["kind: [1]"], "mine.yaml:2: kind: .*known: discourse"),
        (["kind:"], "mine.yaml:2: kind: "),
        (["kind: ../demo_forum"], "mine.yaml:2: kind: "),
        (["kind: phpbb", "content: {titel: css:h1}"], "mine.yaml:3: content.titel: got 'titel', expected title"),
        (["kind: phpbb", "search: {paging: {kind: page}}"], "mine.yaml:3: search"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(lines, expected):
    with pytest.raises(InputError, match=expected):
        site(*lines)
