"""Steps in a site's file: how they are written, and what is refused."""

from __future__ import annotations

import pytest

from crawler.base import yamlfile
from crawler.base.errors import InputError
from crawler.sites import site_of
from crawler.sites.render_step import RenderStep, StepTarget
from crawler.sites.steps import StepValues

SITE = "name: board\ncontent: {title: css:h1}\nrender:\n  content:\n    when: always\n    steps:\n"


def steps_of(text):
    entries = "".join(f"      - {line}\n" for line in text.splitlines())
    rendering = site_of(yamlfile.parse(SITE + entries, "board.yaml")).render.content
    return [step.played(StepValues("https://b.example", "flood 洪水")) for step in rendering.steps]


@pytest.mark.parametrize(
    ("written", "step"),
    [
        (
            "goto: '{base}/find?q={keywords}'",
            RenderStep("goto", text="https://b.example/find?q=flood%20%E6%B4%AA%E6%B0%B4"),
        ),
        ("wait: .post", RenderStep("wait", StepTarget(css=".post"))),
        ("wait: {seconds: 40}", RenderStep("wait", seconds=40, timeout_seconds=70)),
        ("{wait: {quiet: 3}, timeout: 2}", RenderStep("wait", text="quiet", seconds=3, timeout_seconds=5)),
        ("click: css:button.more", RenderStep("click", StepTarget(css="button.more"))),
        (
            "{click: 'text:More  posts', timeout: 3}",
            RenderStep("click", StepTarget(text="More posts"), timeout_seconds=3),
        ),
        ("hover: .menu", RenderStep("hover", StepTarget(css=".menu"))),
        (
            "fill: {selector: '#q', text: '{keywords} {x}'}",
            RenderStep("fill", StepTarget(css="#q"), text="flood 洪水 {x}"),
        ),
        ("press: Control+a", RenderStep("press", text="Control+a")),
        ("press: {key: +, selector: a}", RenderStep("press", StepTarget(css="a"), text="+")),
        ("select: {selector: a, option: '1'}", RenderStep("select", StepTarget(css="a"), text="1")),
        ("check: {selector: a, checked: false}", RenderStep("check", StepTarget(css="a"), is_checked=False)),
        ("scroll: .end", RenderStep("scroll", StepTarget(css=".end"), times=50)),
        ("scroll: {times: 3}", RenderStep("scroll", times=3)),
        ("dialog: accept", RenderStep("dialog", name="accept")),
        ("dialog: {answer: accept, text: 'yes'}", RenderStep("dialog", name="accept", text="yes")),
        ("frame: iframe", RenderStep("frame", StepTarget(css="iframe"))),
        ("frame: top", RenderStep("frame")),
        ("tab: new", RenderStep("tab", text="new")),
        ("cookie: {name: a, value: b}", RenderStep("cookie", name="a", text="b")),
        ("keep: li", RenderStep("keep", StepTarget(css="li"))),
        (
            "repeat: {steps: [{click: a}]}",
            RenderStep("repeat", times=50, steps=(RenderStep("click", StepTarget(css="a")),)),
        ),
    ],
)
def test_a_step_is_a_key_and_what_it_is_about(written, step):
    assert steps_of(written) == [step]


def test_all_that_is_wrong_is_named_at_once():
    with pytest.raises(InputError) as caught:
        steps_of(
            "fill: {selector: '#q['}\npres: Enter\npress: Return\n{click: a, hover: b}\nwait: {}\nclick: 3\nclick\n"
            "timeout: 3\nrepeat: {steps: [{repeat: {steps: [{click: a}]}}]}\nclick: a >> b\n"
            "cookie: {name: a;b, value: c}\nscroll: {times: 5000}\ntab: second\n{click: a, timeout: 0}\n"
            "repeat: {steps: []}\ncheck: a::text"
        )
    told = [
        (one.key.removeprefix("render.content.steps."), one.expected) for one in (caught.value, *caught.value.further)
    ]
    assert [key for key, _ in told] == [
        "0.fill.selector",
        "1.pres",
        "2.press",
        "3",
        "4.wait",
        "5.click",
        "6",
        "7",
        "8.repeat",
        "9.click",
        "10.cookie.name",
        "11.scroll.times",
        "12.tab",
        "13.timeout",
        "14.repeat.steps",
        "15.check",
        "0.fill.text",
    ]
    expected = dict(told)
    assert expected["1.pres"].startswith("press (did you mean it?)")
    assert expected["2.press"] == "a key such as Enter, PageDown, a or Control+a"
    assert expected["3"].startswith("one of goto, wait, click")
    assert expected["8.repeat"] == "no repeat within repeat"


def test_only_pages_that_are_rendered_have_steps():
    text = "name: b\ncontent: {title: css:h1}\nrender: {content: {steps: [{click: a}]}}"
    with pytest.raises(InputError, match="`when: always` or `auto` beside steps and seconds"):
        site_of(yamlfile.parse(text, "b.yaml"))
