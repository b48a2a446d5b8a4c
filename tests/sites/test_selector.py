"""A selector is refused where what it makes of a page could be many times as large as the page."""

import pytest

from crawler.sites.selector import Selector


@pytest.mark.parametrize(
    "path",
    [
        "[@,@][]|" * 22 + "@",
        "{a:@,b:@}.*|" * 22 + "@",
        "[@,@,@,@,@][].[@,@,@,@,@]",
        "map(&[@,@],@)[]|" * 5 + "@",
        "to_string(to_array(@))|" * 30 + "@",
        "join(@[0],@)",
        "a || join(join('x',@),@)",
        "!" * 980 + "@",
    ],
)
@pytest.mark.parametrize("language", ["json", "jsonld", "microdata"])
def test_json_is_not_multiplied(language, path):
    with pytest.raises(ValueError, match=r"a JMESPath expression (that|of fewer)"):
        Selector.parse(f"{language}:{path}")


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("[a[].n,b[].n][]", [1, 2, 3]),
        ("[a,b][][].n", [1, 2, 3]),
        ("a[?n==`2`].[n,n]", [[2, 2]]),
        ("a[:1].{x:n,y:n}", [{"x": 1, "y": 1}]),
        ("join(', ',[c,to_string(a[0].n)])", "c, 1"),
        (" || ".join(["[no.a,no.b][1]"] * 20), None),
        ("[c,c,c,c,c,c,c,c,c,c,c,c,c,c,c,c]", ["c"] * 16),
    ],
)
def test_what_people_write_is_none_of_that(path, found):
    assert Selector.parse(f"json:{path}").search({"a": [{"n": 1}, {"n": 2}], "b": [{"n": 3}], "c": "c"}) == found


def test_a_phrase_is_what_a_reader_sees_of_it():
    search = Selector.parse("text:No \u00a0re\u00adsults").search
    assert (search("Sorry, No results"), search("Noresults")) == (True, False)
    with pytest.raises(ValueError, match="a phrase after text:"):
        Selector.parse("text:\u00ad ")
