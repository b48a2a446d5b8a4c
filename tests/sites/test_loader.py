"""Sites are loaded by name, from the analyst's folder or the package."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import crawler
from crawler import sites
from crawler.base.errors import InputError
from crawler.sites import kinds

MINIMAL = 'name: {name}\nsearch: {{url: "http://x.org/?q={{query}}"}}\nresults: {{links: css:a}}\n'
BUILT_IN = sorted(["any_feed", "any_sitemap", "demo_forum", "demo_forum_ajax", "web", *kinds.names()])


def test_built_in_sites_load():
    assert sites.names() == BUILT_IN
    assert [sites.load(name).name for name in BUILT_IN] == BUILT_IN


def test_the_analysts_folder_comes_first(tmp_path):
    (tmp_path / "mine.yaml").write_text(MINIMAL.format(name="mine"))
    (tmp_path / "mediawiki.yaml").write_text(MINIMAL.format(name="mediawiki"))
    assert sites.names(str(tmp_path)) == sorted([*BUILT_IN, "mine"])
    assert sites.load("mine", str(tmp_path)).name == "mine"
    assert sites.load("mediawiki", str(tmp_path)).search.url == "http://x.org/?q={query}"


def test_the_error_for_an_unknown_site_names_known_ones_and_where_they_are_looked_for(tmp_path):
    not_set = r"unknown site 'vbulletin', neither built in nor in SITES_DIR \(not set\); known: any_feed, any_sitemap"
    with pytest.raises(sites.SiteError, match=not_set):
        sites.load("vbulletin")
    with pytest.raises(sites.SiteError, match="did you mean mediawiki"):
        sites.load("mediawki")
    (tmp_path / "town_board.yaml").write_text(MINIMAL.format(name="town_board"))
    nearest = f"nor in SITES_DIR ({tmp_path}); did you mean town_board?"
    with pytest.raises(sites.SiteError, match=re.escape(nearest)):
        sites.load("town_bord", str(tmp_path))


@pytest.mark.parametrize("name", ["../plans/demo", "/etc/passwd", "a/b", "", "x" * 65, "mediawiki.yaml", "a\0b"])
def test_a_path_is_no_name(tmp_path, name):
    with pytest.raises(sites.SiteError, match="unknown site"):
        sites.load(name, str(tmp_path))


def test_a_file_must_be_named_like_its_site(tmp_path):
    (tmp_path / "mine.yaml").write_text(MINIMAL.format(name="yours"))
    with pytest.raises(InputError, match=r"mine.yaml:1: name: got 'yours', expected mine, as the file is named"):
        sites.load("mine", str(tmp_path))


def test_a_missing_folder_is_refused(tmp_path):
    with pytest.raises(sites.SiteError, match="SITES_DIR"):
        sites.names(str(tmp_path / "none"))


@pytest.mark.process
def test_built_in_sites_load_and_pages_are_read_from_a_zipped_egg(tmp_path):
    package = Path(crawler.__file__).parent
    egg = tmp_path / "headroom.egg"
    with zipfile.ZipFile(egg, "w") as archive:
        for file in package.rglob("*"):
            if file.suffix in (".py", ".yaml", ".json"):
                archive.write(file, Path("crawler") / file.relative_to(package))
    program = """
from crawler import sites
from crawler.extract import dates, weights
print(sites.__file__, *sites.names(), sites.load("mediawiki").name)
print(bool(weights.weights().types), dates.to_utc("3 Nov 2026", sites.load("web").zone))
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(egg)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    loaded = [f"{egg}/crawler/sites/__init__.py", *BUILT_IN, "mediawiki"]
    assert done.stdout.split() == [*loaded, "True", "2026-11-03T00:00:00Z"]
