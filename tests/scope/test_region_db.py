"""The operator's database of regions: what it says, and what is done with one that is missing, old, broken or new."""

import time
from pathlib import Path

import pytest
from scope.mmdb import database

from crawler.base.errors import ConfigError
from crawler.scope.region_db import LOOK_SECONDS, RegionDb

BEIJING = {
    "country": {"iso_code": "CN"},
    "subdivisions": [{"iso_code": "BJ"}],
    "city": {"names": {"en": "Beijing", "zh-CN": "北京"}},
}
AMERICA = {"registered_country": {"iso_code": "US"}}


class Clock:
    def __init__(self):
        self.now_s = time.time()

    def __call__(self):
        return self.now_s


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "regions.mmdb"
    file.write_bytes(database({"203.0.113.0/24": BEIJING, "198.51.100.0/25": AMERICA}, time.time()))
    return file


def replace(path: Path, raw: bytes):
    other = path.with_suffix(".new")
    other.write_bytes(raw)
    other.replace(path)


def test_a_region_has_the_names_that_plans_may_call_it(path):
    regions = RegionDb(str(path), max_age_days=10)
    assert regions.names_of("203.0.113.7") == {"CN", "CN-BJ", "CN/Beijing"}
    assert regions.names_of("198.51.100.1") == {"US"}
    assert regions.names_of("198.51.100.200") == frozenset()


def test_a_database_that_is_missing_old_or_broken_is_refused_by_name(path, tmp_path):
    with pytest.raises(ConfigError, match=r"REGION_DB: got '.*none.mmdb', expected a file that is there"):
        RegionDb(str(tmp_path / "none.mmdb"), max_age_days=10)
    with pytest.raises(ConfigError, match="at most REGION_DB_MAX_AGE_DAYS=10, but it is 20 days old"):
        RegionDb(str(path), max_age_days=10, now=lambda: time.time() + 20 * 86_400)
    RegionDb(str(path), max_age_days=0, now=lambda: time.time() + 9_999 * 86_400)
    for raw in (b"", b"no database", path.read_bytes()[:-40], path.read_bytes().replace(b"node_count", b"node_coumt")):
        replace(path, raw)
        with pytest.raises(ConfigError, match="a MaxMind database"):
            RegionDb(str(path), max_age_days=10)


def test_a_file_that_takes_its_place_is_opened_and_a_broken_one_is_not(path, caplog):
    clock = Clock()
    regions = RegionDb(str(path), max_age_days=10, now=clock)
    replace(path, database({"203.0.113.0/24": AMERICA}, clock()))
    assert regions.names_of("203.0.113.7") == {"CN", "CN-BJ", "CN/Beijing"}  # it isn't looked at each time
    clock.now_s += LOOK_SECONDS
    assert regions.names_of("203.0.113.7") == {"US"}
    replace(path, b"no database")
    clock.now_s += LOOK_SECONDS
    assert regions.names_of("203.0.113.7") == {"US"}
    assert "what was opened before stays in use" in caplog.text
    path.unlink()
    clock.now_s += LOOK_SECONDS
    assert regions.names_of("203.0.113.7") == {"US"}
    path.write_bytes(database({"203.0.113.0/24": BEIJING}, clock()))
    clock.now_s += LOOK_SECONDS
    assert "CN" in regions.names_of("203.0.113.7")
