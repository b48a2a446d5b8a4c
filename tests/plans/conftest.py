import pytest

from crawler import plans

BOARD = """
name: board
base: https://board.example
politeness: {delay: 2, concurrency: 2}
search:
  url: "{base}/search?q={query}&p={page}&n={per_page}&o={sort}&from={since}"
  max_per_page: 50
  sort: {newest: new, relevance: best}
  since_format: "%Y-%m-%d"
  paging: {kind: page}
results: {links: "css:a.hit"}
"""
GBK_SITE = """
name: old_board
base: https://old.example
search: {url: "{base}/s?q={query}&start={offset}", encoding: gbk, paging: {kind: offset}}
results: {links: "css:a.hit"}
"""
CURSOR_SITE = """
name: stream
base: https://stream.example
search: {url: "{base}/find", body: {q: "{query}", after: "{cursor}"}, paging: {kind: cursor}}
results: {type: json, links: "json:items[].url", next: "json:next"}
"""
PLACELESS = """
name: software
search: {url: "{base}/s?q={query}"}
results: {links: "css:a.hit"}
"""


@pytest.fixture
def sites_dir(tmp_path):
    folder = tmp_path / "sites"
    folder.mkdir()
    for name, text in (("board", BOARD), ("old_board", GBK_SITE), ("stream", CURSOR_SITE), ("software", PLACELESS)):
        (folder / f"{name}.yaml").write_text(text)
    return str(folder)


@pytest.fixture
def plan(sites_dir):
    """Makes a plan of keywords and other keys, as YAML would."""

    def make(keywords, *more, sites="[board]", max_seeds=100_000):
        text = "\n".join((f"name: test\nsites: {sites}\nkeywords: {keywords}", *more))
        return plans.parse(text, "plan.yaml", sites_dir=sites_dir, max_seeds=max_seeds)

    return make
