"""What the explorer finds on a made page with 20 hidden states, and what it leaves alone."""

from __future__ import annotations

import pytest

from crawler.render import exploration
from crawler.render.exploration import ExplorationLimits
from crawler.render.wish import Wish

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.faults]  # with a browser of their own

PAGE = "https://forum.example/product"
QUICK = Wish(quiet_seconds=0.05)


def hidden_page():
    """Returns a page with 20 states that only clicks show: tabs, an accordion, a menu, and panels nested in them."""
    tabs = "".join(f"<button role=tab data-shows=tab{n}>Tab {'ABCDE'[n]}</button>" for n in range(5))
    panels = "".join(
        f"<section id=tab{n} hidden><p>tab text {'ABCDE'[n]}</p>"
        f"<span style='cursor: pointer' data-shows=more{n}>More of {'ABCDE'[n]}</span>"
        f"<div id=more{n} hidden>nested text {'ABCDE'[n]}</div></section>"
        for n in range(5)
    )
    folds = "".join(f"<details><summary>Fold {word}</summary><p>fold text {word}</p></details>" for word in "FGHIJ")
    menus = "".join(
        f'<li onclick="load({n})" id=menu{n}>Entry {"KLMNO"[n]}<div id=part{n}></div></li>' for n in range(5)
    )
    return f"""<h1>Product</h1><nav>{tabs}</nav>{panels}{folds}<a href="#menu" data-shows=menu>Menu</a>
<ul id=menu>{menus}</ul><form action=/find><input name=q><button>Find</button></form>
<button onclick="fetch('/logout')">Log out</button><button onclick="fetch('/vote', {{method: 'POST'}})">Like</button>
<button onclick="location = '/elsewhere'">Away</button><a href=/other>Other page</a>
<script>
document.addEventListener("click", (event) => {{
  const shows = event.target.dataset.shows;
  if (shows) document.getElementById(shows).hidden = false;
}});
async function load(n) {{
  document.getElementById("part" + n).textContent = await (await fetch(`/part${{n}}.html`)).text();
}}
</script>"""


async def test_all_of_twenty_hidden_states_are_found_with_the_steps_that_lead_there(renderer, site):
    site.add(PAGE, hidden_page())
    for number, letter in enumerate("KLMNO"):
        site.add(f"https://forum.example/part{number}.html", f"loaded text {letter}")
    limits = ExplorationLimits(depth=3, states=60, seconds=60)
    found = await renderer.explore(PAGE, wish=QUICK, fetch=site, limits=limits)
    revealed = {text: len(state.steps) for state in found.states for text in state.texts if " text " in text}
    expected = dict.fromkeys((f"tab text {letter}" for letter in "ABCDE"), 1)
    expected |= dict.fromkeys((f"nested text {letter}" for letter in "ABCDE"), 2)
    expected |= dict.fromkeys((f"fold text {letter}" for letter in "FGHIJ"), 1)
    expected |= dict.fromkeys((f"loaded text {letter}" for letter in "KLMNO"), 1)
    assert revealed == expected
    assert found.is_whole
    assert found.passed_by == ("Log out",)
    urls = site.urls()
    assert urls.count(PAGE) == 1
    assert not {"logout", "vote", "find", "elsewhere", "other"} & {url.rpartition("/")[2] for url in urls}
    again = next(state.steps for state in found.states if "nested text C" in state.texts)
    page = await renderer.render(PAGE, wish=Wish(quiet_seconds=0.05, steps=again), fetch=site)
    assert '<div id="more2">nested text C' in page.html


async def test_an_exploration_ends_at_its_bounds(renderer, site):
    endless = (
        "<button onclick=\"this.after(Object.assign(document.createElement('b'), {innerText: 'more'}))\">a</button>"
    )
    site.add(PAGE, "<p>0</p>" + endless * 3 + hidden_page())
    found = await renderer.explore(
        PAGE, wish=QUICK, fetch=site, limits=ExplorationLimits(depth=1, states=3, seconds=60)
    )
    assert (len(found.states), found.is_whole) == (3, False)
    assert max(len(state.steps) for state in found.states) == 1


async def test_an_exploration_that_looks_at_some_elements_only_is_not_whole(renderer, site, monkeypatch):
    site.add(PAGE, "<button>a</button>" * 3)
    for most, is_whole in ((3, True), (2, False)):
        monkeypatch.setattr(exploration, "MAX_ELEMENTS", most)
        found = await renderer.explore(PAGE, wish=QUICK, fetch=site, limits=ExplorationLimits())
        assert (found.clicks, found.is_whole) == (most, is_whole)
