"""Steps, played in a real browser: what each does, and what is said of one that can't be done."""

from __future__ import annotations

import contextlib

import pytest
from render.made_site import JSON

from crawler.base.errors import AnswerError
from crawler.render import evidence
from crawler.render.errors import RenderError, RenderTimeoutError, StepFailedError
from crawler.render.wish import Wish
from crawler.sites.render_step import RenderStep, StepTarget

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAGE = "https://forum.example/board"
FORM = """
<input id=q><select><option value=a>old</option><option value=b>new</option></select>
<input type=checkbox id=box checked>
<a class=menu onmouseover="said('hovered')">menu</a><button disabled hidden>Search</button><button>Search</button>
<p></p><script>
const said = (text) => { document.querySelector("p").textContent += " " + text; };
document.querySelector("#q").onkeydown = (event) => { if (event.key === "Enter") said("entered"); };
for (const button of document.querySelectorAll("button")) button.onclick = () => {
  said(q.value + " " + document.querySelector("select").value + " " + box.checked);
};
</script>"""
# How long a page is quiet that asks for more when it is clicked: on a busy machine its request is seen some time later.
ASKING_QUIET_SECONDS = 0.3
PAGED = """<ol></ol><button class=more onclick="more()">More</button><script>
let page = 0;
async function more() {
  const posts = await (await fetch("/posts?page=" + ++page)).json();
  document.querySelector("ol").MODE posts.map((post) => `<li>${post}</li>`).join("");
  if (page === 4) document.querySelector("button").END;
}
more();
</script>"""
SCROLLED = """<style>p { height: 900px }</style><main><p>post 0</p></main><script>
let posts = 1;
addEventListener("scroll", () => setTimeout(() => {
  if (posts < 4) document.querySelector("main").insertAdjacentHTML("beforeend", `<p>post ${posts++}</p>`);
  if (posts === 4 && !document.querySelector("b")) document.body.append(document.createElement("b"));
}, 5));
</script>"""


def css(selector):
    return StepTarget(css=selector)


def click(target, **more):
    return RenderStep("click", css(target), **more)


async def played(renderer, site, *steps, **wish):
    return await renderer.render(PAGE, wish=Wish(**{"quiet_seconds": 0.05} | wish, steps=steps), fetch=site)


async def failure(renderer, site, *steps, **wish):
    with pytest.raises(StepFailedError) as caught:
        await played(renderer, site, *steps, **wish)
    assert caught.value.screenshot.startswith(b"\xff\xd8")  # a JPEG
    return str(caught.value)


def paged(site, mode, end="remove()"):
    site.add(PAGE, PAGED.replace("MODE", mode).replace("END", end))
    for page in range(1, 9):
        site.add(f"https://forum.example/posts?page={page}", f'["post {min(page, 4)}"]', kind=JSON)


def texts(page, tag):
    """Returns what stands in the elements with this tag, which have no attributes."""
    return [part.partition("<")[0] for part in page.html.split(f"<{tag}>")[1:]]


async def test_a_form_is_filled_in_as_by_a_person(renderer, site):
    site.add(PAGE, FORM)
    page = await played(
        renderer,
        site,
        RenderStep("fill", css("#q"), text="flood 洪水"),
        RenderStep("press", css("#q"), text="Enter"),
        RenderStep("hover", StepTarget(text="Menu")),
        RenderStep("select", css("select"), text="new"),
        RenderStep("check", css("#box"), is_checked=False),
        RenderStep("click", StepTarget(text="search")),
    )
    assert texts(page, "p") == [" entered hovered flood 洪水 b false"]
    steps = ["fill #q", "press #q", "hover text:Menu", "select select", "check #box", "click text:search"]
    assert [(step.number, step.step) for step in page.steps] == [(str(n), step) for n, step in enumerate(steps, 1)]
    assert all(0 < step.seconds < 30 and step.times == 1 for step in page.steps)


@pytest.mark.parametrize(
    "end", ["remove()", *(pytest.param(end, marks=pytest.mark.faults) for end in ("disabled = true", "className = ''"))]
)
async def test_a_button_is_clicked_until_it_is_gone_or_disabled_or_brings_nothing_new(renderer, site, end):
    paged(site, "innerHTML +=", end)
    more = RenderStep("repeat", times=20, steps=(click("button"),))
    page = await played(renderer, site, more, quiet_seconds=ASKING_QUIET_SECONDS)
    assert texts(page, "li")[:4] == ["post 1", "post 2", "post 3", "post 4"]
    times = {step.number: step.times for step in page.steps}
    assert times == {"1": 1, "1.1": 4 if "className" in end else 3}


@pytest.mark.faults
async def test_a_repetition_without_end_ends_after_its_times(renderer, site):
    site.add(PAGE, "<button onclick='document.body.append(Math.random())'>more</button>")
    page = await played(renderer, site, RenderStep("repeat", times=3, steps=(click("button"),)))
    assert {step.number: step.times for step in page.steps} == {"1": 1, "1.1": 3}


async def test_pages_that_replace_each_other_are_read_together_where_they_are_kept(renderer, site):
    paged(site, "innerHTML =")
    steps = (RenderStep("keep", css("li")), click(".more"))
    all_pages = RenderStep("repeat", times=20, steps=steps)
    page = await played(renderer, site, all_pages, quiet_seconds=ASKING_QUIET_SECONDS)
    assert texts(page, "li")[:4] == ["post 1", "post 2", "post 3", "post 4"]


async def test_json_that_steps_bring_is_kept_though_the_page_shows_only_the_last_of_it(renderer, site):
    paged(site, "innerHTML =")
    site.add(PAGE, PAGED.replace("MODE", "innerHTML =").replace("END", "remove()").replace("{post}<", "{0}<"))
    page = await played(
        renderer,
        site,
        RenderStep("repeat", times=20, steps=(click(".more"),)),
        selector="ol",  # is there at once; the page is read when it has loaded what is wanted
        wants_json=lambda url: "/posts" in url,
        quiet_seconds=ASKING_QUIET_SECONDS,
    )
    assert [answer.body.decode() for answer in page.answers] == [f'["post {number}"]' for number in (1, 2, 3, 4)]
    assert all(answer.is_wanted for answer in page.answers)


async def test_a_page_is_scrolled_until_an_element_is_there_or_nothing_new_comes(renderer, site):
    site.add(PAGE, SCROLLED)
    for target in (css("b"), None):
        page = await played(renderer, site, RenderStep("scroll", target, times=20))
        assert texts(page, "p")[:4] == ["post 0", "post 1", "post 2", "post 3"]
    message = await failure(renderer, site, RenderStep("scroll", css("i"), times=2))
    assert message.startswith("step 1, scroll i: expected to find it by scrolling 2 times")


async def test_dialogs_are_dismissed_until_a_step_accepts_them(renderer, site):
    site.add(
        PAGE, "<button onclick=\"document.body.append(confirm('sure?') + ' ' + prompt('why?') + ';')\">ask</button>"
    )
    accepting = RenderStep("dialog", name="accept", text="since")
    steps = (click("button"), accepting, click("button"), RenderStep("dialog"), click("button"))
    page = await played(renderer, site, *steps)
    assert "false null;true since;false null;" in page.html
    site.add(PAGE, "<script>onbeforeunload = (event) => event.preventDefault()</script><a href=/next>next</a>")
    site.add("https://forum.example/next", "<h1>next</h1>")
    for leaving in ((click("a"),), (click("body"), RenderStep("goto", text="/next"))):
        assert texts(await played(renderer, site, *leaving), "h1") == ["next"]


async def test_frames_and_tabs_are_entered_and_left_and_the_last_one_is_read(renderer, site):
    site.add(PAGE, "<iframe src=/inner></iframe><a href=/pop target=_blank>pop</a>")
    site.add("https://forum.example/inner", "<button onclick=\"document.body.append('pressed')\">b</button>")
    site.add("https://forum.example/pop", "<h1>popped</h1><iframe src=/inner></iframe>")
    frame, new, first = (
        RenderStep("frame", css("iframe")),
        RenderStep("tab", text="new"),
        RenderStep("tab", text="first"),
    )
    page = await played(renderer, site, frame, click("button"))
    assert page.html.endswith("b</button>pressed</body></html>")
    page = await played(renderer, site, frame, RenderStep("frame"), click("a"), new)
    assert (page.url, texts(page, "h1")) == ("https://forum.example/pop", ["popped"])
    page = await played(renderer, site, click("a"), new, frame, click("button"))
    assert "pressed" in page.html
    assert (await played(renderer, site, click("a"), new, first)).url == PAGE


@pytest.mark.faults
async def test_what_the_browser_says_of_errors_itself_is_no_page(renderer, site):
    """It refuses the page's redirect, or to show a page in a frame, and puts words of its own in the place."""
    site.add(PAGE, "<iframe src=/framed></iframe><a href=/away>away</a>")
    site.add("https://forum.example/framed", "<p>alone</p>", (b"X-Frame-Options", b"DENY"))
    site.redirect("https://forum.example/away", "file:///etc/passwd")
    for step in (RenderStep("frame", css("iframe")), click("a")):
        with pytest.raises(RenderError, match="an error of its own"):
            await played(renderer, site, step)


async def test_a_tab_is_not_opened_unless_a_step_leads_there(renderer, site):
    site.add(PAGE, "<a href=/pop target=_blank>pop</a>")
    await played(renderer, site, click("a"))
    assert site.urls() == [PAGE]


async def test_a_cookie_goes_with_what_is_asked_for_next(renderer, site):
    site.add(PAGE, "<p>text</p>")
    site.add(f"{PAGE}?view=all", "<h1>all</h1>")
    cookie = RenderStep("cookie", name="layout", text="list")
    page = await played(renderer, site, cookie, RenderStep("goto", text="?view=all"))
    assert texts(page, "h1") == ["all"]
    sent = [dict(request.headers).get("Cookie") for request in site.asked]
    assert sent == [None, "layout=list"]


async def test_a_step_to_another_page_is_refused_as_any_request_of_the_page_is(renderer, site):
    site.add(PAGE, "<a href=https://elsewhere.example/>away</a>")
    site.refuse("https://elsewhere.example/")
    for step in (RenderStep("goto", text="//elsewhere.example/"), click("a")):
        with pytest.raises(AnswerError, match="refused"):
            await played(renderer, site, step, RenderStep("wait", css("h1")))


@pytest.mark.parametrize(
    "wait",
    [
        {"target": css("h1")},
        *(
            pytest.param(wait, marks=pytest.mark.faults)
            for wait in ({"text": "quiet", "seconds": 0.5}, {"seconds": 0.5})
        ),
    ],
)
async def test_what_a_step_sets_off_later_is_waited_for(renderer, site, wait):
    site.add(
        PAGE, "<button onclick=\"setTimeout(() => { document.body.innerHTML = '<h1>late</h1>' }, 150)\">b</button>"
    )
    page = await played(renderer, site, click("button"), RenderStep("wait", **wait))
    assert texts(page, "h1") == ["late"]


NOTHING = "nothing on the page matches within 0.2 s"
SOON = {"timeout_seconds": 0.2}
UNUSABLE = "1 on the page match, and none can be"
FAILING = [
    (RenderStep("click", css("#none"), **SOON), f"click #none: {NOTHING}"),
    (RenderStep("goto", text="file:///etc/passwd"), "goto file:///etc/passwd: expected an address of http or https"),
    (RenderStep("hover", css("[hidden]"), **SOON), f"hover [hidden]: {UNUSABLE}"),
    (RenderStep("click", StepTarget(text="none"), **SOON), f"click text:none: {NOTHING}"),
    (RenderStep("wait", css(".none"), **SOON), f"wait .none: {NOTHING}"),
    (RenderStep("wait", text="quiet", seconds=5, **SOON), "wait: not done within 0.2 s"),
    (RenderStep("select", css("#q"), text="x"), "select #q: Element is not a <select> element"),
    (RenderStep("select", css("select"), text="x", **SOON), f"select select: {UNUSABLE}"),
    (RenderStep("check", css(".menu")), "check .menu: Not a checkbox or radio button"),
    (RenderStep("frame", css("iframe"), **SOON), f"frame iframe: {NOTHING}"),
    (RenderStep("tab", text="new", **SOON), "tab new: no new tab within 0.2 s"),
]


@pytest.mark.parametrize(
    ("step", "said"),
    [pytest.param(*row, marks=[pytest.mark.faults] if number > 1 else []) for number, row in enumerate(FAILING)],
)
async def test_a_step_that_fails_is_named_with_the_reason(renderer, site, step, said):
    site.add(PAGE, FORM)
    assert (await failure(renderer, site, RenderStep("press", text="Tab"), step)).startswith(f"step 2, {said}")


async def test_a_step_of_a_repetition_is_named_by_both_numbers(renderer, site):
    site.add(PAGE, FORM)
    inner = (RenderStep("press", text="Tab"), RenderStep("wait", css(".none"), timeout_seconds=0.1))
    assert (await failure(renderer, site, RenderStep("repeat", times=3, steps=inner))).startswith(
        "step 1.2, wait .none: "
    )


@pytest.mark.faults
async def test_the_time_of_a_page_may_be_its_own_and_ends_at_a_step_that_is_named(renderer, site):
    site.add(PAGE, "<p>text</p>")
    with pytest.raises(RenderTimeoutError, match=r"within 4 s, at step 1, wait \.never"):
        await played(renderer, site, RenderStep("wait", css(".never")), page_seconds=4)


@pytest.mark.faults
@pytest.mark.parametrize(
    ("script", "fails"),
    [
        ("while (true) {}", True),
        ("while (true) confirm('again')", True),
        ("for (let i = 0; i < 50; i++) open('/pop' + i)", False),
        ("location = '/' + Math.random()", False),
        ("document.body.innerHTML = ''; close()", False),
    ],
)
async def test_what_a_click_sets_off_costs_no_other_page(renderer, site, script, fails):
    site.add(PAGE, f'<button onclick="{script}">b</button><p>text</p>')

    async def fetch(request):
        return site.answer(PAGE)

    again = RenderStep("repeat", times=50, steps=(click("button", timeout_seconds=4), RenderStep("press", text="Tab")))
    steps = (RenderStep("dialog", name="accept"), again, RenderStep("tab", text="first"))
    with pytest.raises(StepFailedError) if fails else contextlib.nullcontext():
        await renderer.render(PAGE, wish=Wish(quiet_seconds=0.05, steps=steps, page_seconds=120), fetch=fetch)
    site.add(PAGE, "<p>calm</p>")
    assert texts(await played(renderer, site), "p") == ["calm"]


async def test_pictures_of_failed_steps_are_kept_in_bounds(tmp_path, monkeypatch):
    monkeypatch.setattr(evidence, "MAX_PICTURES", 2)
    (tmp_path / "other.jpg").write_bytes(b"of somebody else")
    error = StepFailedError("3.2", "click .more: nothing", b"picture")
    assert evidence.save(error, "", "board") == ""
    for site in ("a", "b", "board", "board"):
        path = evidence.save(error, str(tmp_path), site)
    assert path == str(tmp_path / "board-3.2.step.jpg")
    kept = sorted(one.name for one in tmp_path.iterdir())
    assert len(kept) == 3
    assert {"board-3.2.step.jpg", "other.jpg"} < set(kept)
    assert evidence.save(error, str(tmp_path / "other.jpg"), "board") == ""
