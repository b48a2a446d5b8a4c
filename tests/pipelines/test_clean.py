"""The clean pipeline."""

import asyncio

import pytest
from scrapy.exceptions import DropItem

from crawler.base.item import Item
from crawler.extract import language
from crawler.pipelines.clean import CleanPipeline


def page(**fields):
    return Item(
        id="1", resource="board", url="http://x.org/", time="2026-11-03T06:05:00Z", **({"content": ""} | fields)
    )


async def clean(item):
    return await CleanPipeline().process_item(item)


async def test_every_text_is_clean():
    item = await clean(
        page(
            title=" Flood\n\x1b[31min Wulong\x00 ",
            content="One\r\n\r\n\u200bTwo  e\u0301",
            author=" \t",
            extra={"tags": [" a ", 1, None, {"deep\x07": " b\u00a0c "}], "n": 1.5},
        )
    )
    assert item.title == "Flood in Wulong"
    assert item.content == "One\nTwo é"
    assert item.author is None
    assert item.extra == {"tags": ["a", 1, None, {"deep": "b c"}], "n": 1.5}


async def test_the_language_is_guessed_from_title_and_content():
    assert (await clean(page(title="重庆洪水", content="消防救援人员连夜转移被困群众，多地停电。"))).language == "zh"
    assert (await clean(page(title="Flood", content="ok"))).language is None
    assert (await clean(page(title="Flood", content="ok", language="fr"))).language == "fr"


async def test_the_languages_of_pages_that_came_at_once_are_guessed_in_a_row(monkeypatch):
    steps = []

    async def to_the_end(number):
        await clean(page(title=f"{number}"))
        steps.append(f"{number} goes on")

    monkeypatch.setattr(language, "language_of", lambda text: steps.append(f"{text.strip()} is guessed"))
    await asyncio.gather(*map(to_the_end, range(3)))
    assert steps == ["0 is guessed", "1 is guessed", "2 is guessed", "0 goes on", "1 goes on", "2 goes on"]


@pytest.mark.parametrize("content", ["", " \n ", "\x00\x1b[0m\u200b"])
async def test_an_item_with_nothing_left_is_dropped(content):
    with pytest.raises(DropItem, match=r"^no-content$"):
        await clean(page(title=" ", content=content))


async def test_a_title_alone_is_something():
    assert (await clean(page(title="Flood"))).title == "Flood"


async def test_other_items_pass_through():
    item = {"title": " untouched "}
    assert await clean(item) is item
    assert item == {"title": " untouched "}


async def test_what_extraction_has_cleaned_is_left_alone_until_it_changes():
    item = page(title="a  b", content="c  d")
    item.note_clean(item.title, item.content)
    assert (await clean(item)).title == "a  b"
    item.title = "e  f"
    assert ((await clean(item)).title, item.content) == ("e f", "c  d")
