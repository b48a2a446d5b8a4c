"""Messages that are larger than a server takes."""

import orjson
import pytest
from pipelines.sink_samples import page

from crawler.base.item import Comment
from crawler.pipelines.cut import cut

LARGE = page(1, content='"水\n' * 5_000, comments=[Comment("谢" * 100)] * 50, extra={"a": "b" * 3_000})


@pytest.mark.parametrize(
    ("max_bytes", "truncated"),
    [(90_000, []), (45_000, ["comments"]), (30_000, ["comments", "content"]), (4_000, ["comments", "content"])],
)
def test_a_message_is_cut_until_it_fits(max_bytes, truncated):
    value = orjson.dumps(LARGE)
    found = cut(value, max_bytes)
    assert len(found) <= max_bytes
    message = orjson.loads(found)
    assert message["truncated"] == truncated
    assert LARGE.content.startswith(message["content"])
    assert message["id"] == LARGE.id


def test_what_has_nothing_to_cut_is_none():
    assert cut(orjson.dumps(page(1, title="x" * 5_000)), 4_000) is None
