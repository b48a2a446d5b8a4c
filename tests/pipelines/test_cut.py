"""Messages that are larger than a server takes."""

import orjson
import pytest
from pipelines.sink_samples import page

from crawler.base.item import Comment
from crawler.pipelines.cut import cut

LARGE = page(
    1, content='"水\n' * 5_000, markdown="水*" * 5_000, comments=[Comment("谢" * 100)] * 50, extra={"a": "b" * 3_000}
)


@pytest.mark.parametrize(
    ("max_bytes", "truncated"),
    [
        (90_000, []),
        (65_000, ["comments"]),
        (45_000, ["comments", "markdown"]),
        (30_000, ["comments", "markdown", "content"]),
        (4_000, ["comments", "markdown", "content"]),
        (1_500, ["comments", "markdown", "content", "extra"]),
    ],
)
def test_a_message_is_cut_until_it_fits(max_bytes, truncated):
    cut_message = cut(orjson.dumps(LARGE), max_bytes)
    assert len(cut_message) <= max_bytes
    message = orjson.loads(cut_message)
    assert message["truncated"] == truncated
    assert LARGE.content.startswith(message["content"])
    assert LARGE.markdown.startswith(message["markdown"])
    assert message["id"] == LARGE.id


@pytest.mark.parametrize("name", ["title", "author", "markdown", "content"])
def test_any_text_of_a_page_is_cut(name):
    message = orjson.loads(cut(orjson.dumps(page(1, **{name: "x" * 5_000})), 4_000))
    assert name in message["truncated"]


def test_what_has_nothing_to_cut_is_none():
    assert cut(orjson.dumps(page(1, plan="x" * 5_000)), 4_000) is None
