"""Which links come first in a focused crawl, and what it learns from the pages that they lead to."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.extract.words import CombinationSearch, comparable
from crawler.scope.scorers import BreadthFirst, Focused, Link, PageOfLinks, PlanTopic
from crawler.scope.scorers import focused as module
from crawler.scope.scorers.scorer import MAX_WHY_CHARACTERS

BASE = "https://a.example"
COMBINATIONS = [("flood", "chongqing"), ("洪水",)]


def topic(combinations=COMBINATIONS, priority=5):
    search = CombinationSearch(combinations)
    return PlanTopic(priority, combinations, lambda text: search.words_in(comparable(text)))


def page(text="", why="", url=f"{BASE}/page", depth=0):
    return PageOfLinks(url, 7, depth, why, comparable(text))


def priorities(links, of_page=None, scorer=None):
    return [score.priority for score in (scorer or Focused(topic())).scores(links, of_page or page())]


def test_breadth_first_gives_every_link_the_priority_of_its_page():
    scores = BreadthFirst.of(topic()).scores([Link(f"{BASE}/1"), Link(f"{BASE}/2", "flood")], page())
    assert [tuple(score) for score in scores] == [(7, ""), (7, "")]
    assert BreadthFirst.explanation("1") == ""


@pytest.mark.parametrize(
    "better",
    [
        Link(f"{BASE}/1", "The flood of Chongqing"),
        Link(f"{BASE}/1", "", "when the flood reached Chongqing"),
        Link(f"{BASE}/flood-in-chongqing/1"),
        Link(f"{BASE}/1", "重庆洪水救援"),  # words of Chinese have no blanks between them
        Link(f"{BASE}/%E6%B4%AA%E6%B0%B4/1"),
        Link(f"{BASE}/1", "The FLOOD"),  # half of a combination's words
        Link(f"{BASE}/1", "Chongqi"),
    ],
)
def test_a_link_with_words_of_the_plan_comes_before_one_without(better):
    plain, first = priorities([Link(f"{BASE}/1", "Weather", "of today"), better])
    assert first > plain


def test_links_of_a_page_on_topic_come_first():
    links = [Link(f"{BASE}/1", "more")]
    off, on = (priorities(links, page(text)) for text in ("Weather. " * 9, "The flood of Chongqing. " * 9))
    assert on > off


def test_a_plan_of_another_priority_has_its_links_moved_within_bounds():
    links = [Link(f"{BASE}/1"), Link(f"{BASE}/2", "flood of chongqing")]
    usual = priorities(links)
    assert priorities(links, scorer=Focused(topic(priority=6))) == [min(9, each + 1) for each in usual]
    assert priorities(links, scorer=Focused(topic(priority=0))) == [max(0, each - 5) for each in usual]


def test_it_learns_what_leads_to_the_topic():
    scorer = Focused(topic())
    links = [Link(f"{BASE}/news/7", "more"), Link(f"{BASE}/shop/7", "more")]
    before = scorer.scores(links, page())
    for number in range(30):
        scorer.scores([], page("flood in chongqing", before[0].why, f"{BASE}/news/{number}"))
        scorer.scores([], page("shoes", before[1].why, f"{BASE}/shop/{number}"))
    news, shop = scorer.scores(links, page())
    assert news.priority > before[0].priority
    assert news.priority > shop.priority
    assert "its folder" in scorer.explanation(news.why)


def test_it_learns_which_other_words_stand_on_links_to_the_topic():
    scorer = Focused(topic())
    for number in range(30):
        scorer.scores([], page("Reservoirs: flood in chongqing", url=f"{BASE}/{number}/a/"))
        scorer.scores([], page("Recipes: soup", url=f"{BASE}/{number}/b/"))
    recipes, reservoirs = scorer.scores([Link(f"{BASE}/x/1", "Recipes"), Link(f"{BASE}/y/1", "Reservoirs")], page())
    assert reservoirs.priority > recipes.priority
    assert "with words of its link were" in scorer.explanation(reservoirs.why)


def test_a_page_that_pages_on_topic_link_to_comes_before_one_that_all_pages_link_to():
    scorer = Focused(topic())
    menu, linked = Link(f"{BASE}/x/1", "more"), Link(f"{BASE}/y/1", "more")
    for number in range(10):
        scorer.scores([menu], page("Shoes", url=f"{BASE}/{number}/a/"))
        scores = scorer.scores([menu, linked], page("flood in chongqing", url=f"{BASE}/{number}/b/"))
    assert scores[1].priority > scores[0].priority
    assert "with links to it were" in scorer.explanation(scores[1].why)


def test_the_first_links_to_a_folder_come_before_the_next_and_keep_their_places():
    scorer = Focused(topic())
    links = [Link(f"{BASE}/folder/{'x' * number}/1", "more") for number in range(9)]
    links += [Link(f"{BASE}/one-folder/{'x' * number}", "more") for number in range(9)]
    worth = priorities(links, scorer=scorer)
    assert len(set(worth[:9])) == 1
    assert worth[9] == worth[0] > worth[-1]
    again = priorities([*links, Link(f"{BASE}/one-folder/last", "more")], scorer=scorer)
    assert again[-2] == again[-1] == worth[-1]


def test_pages_teach_it_that_words_on_links_mean_little():
    scorer = Focused(topic())
    named = Link(f"{BASE}/menu", "flood chongqing")
    (before,) = scorer.scores([named], page())
    for number in range(100):
        scorer.scores([], page("shoes", before.why, f"{BASE}/{number}/x/"))
    assert priorities([named], scorer=scorer)[0] < before.priority


def test_what_it_remembers_is_bounded(monkeypatch):
    monkeypatch.setattr(module, "MAX_GROUPS", 10)
    scorer = Focused(topic())
    for number in range(100):
        scorer.scores([], page(url=f"{BASE}/{'x' * number}/1"))
    assert len(scorer._groups) == 10


def test_a_score_explains_itself():
    (score,) = Focused(topic()).scores([Link(f"{BASE}/flood/1", "flood of chongqing")], page("flood in chongqing"))
    assert len(score.why) < 45
    assert Focused.explanation(score.why).startswith("its link was found to lead to the topic by 9")
    assert "all words of the plan stand on the link, 50% of the plan's words stand in its address, " in (
        Focused.explanation(score.why)
    )
    (nothing,) = Focused(topic()).scores([Link("https://b.example/1/")], page())
    assert Focused.explanation(nothing.why).endswith(
        "as nothing was known of it; it comes sooner as few links to its folder were known"
    )


@given(
    st.text() | st.lists(st.integers(-999, 999), min_size=13, max_size=13).map(lambda parts: ",".join(map(str, parts)))
)
def test_whatever_redis_says_of_why_leaves_scores_numbers(why):
    scorer = Focused(topic())
    scorer.scores([], page("flood of chongqing", why))
    (score,) = scorer.scores([Link(f"{BASE}/1", "flood")], page())
    assert 0 <= score.priority <= 9
    assert len(score.why) <= MAX_WHY_CHARACTERS
    assert all(map(math.isfinite, scorer._weights))
    assert isinstance(Focused.explanation(why), str)


def test_a_plan_without_words_cannot_be_focused():
    with pytest.raises(ValueError, match="needs keywords"):
        Focused.of(topic([]))
