"""Tests of how garbage collection is put off."""

import gc
from contextlib import suppress

import pytest

from crawler.extract.collector import collector_paused


@pytest.mark.parametrize("was_enabled", [True, False])
def test_collections_go_on_as_before_whatever_happens(*, was_enabled: bool) -> None:
    before = gc.isenabled()
    (gc.enable if was_enabled else gc.disable)()
    try:
        with suppress(ValueError), collector_paused():
            assert not gc.isenabled()
            raise ValueError
        assert gc.isenabled() == was_enabled
    finally:
        (gc.enable if before else gc.disable)()
