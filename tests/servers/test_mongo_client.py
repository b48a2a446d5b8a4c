from __future__ import annotations

import pytest
from pymongo import WriteConcern

from crawler.base.errors import ConfigError
from crawler.servers.mongo_client import SELECT_MILLISECONDS, mongo_client


async def test_mongo_writes_to_the_majority_unless_the_url_says_otherwise():
    async with mongo_client({"MONGO_URL": "mongodb://h/?retryWrites=false"}) as client:
        assert client.write_concern == WriteConcern("majority")
        assert client.codec_options.tz_aware
        assert client.options.server_selection_timeout == SELECT_MILLISECONDS / 1000
    async with mongo_client({"MONGO_URL": "mongodb://h/?w=1&serverSelectionTimeoutMS=70"}) as client:
        assert client.write_concern == WriteConcern(1)
        assert client.options.server_selection_timeout == 0.07


@pytest.mark.parametrize("password", ["12/34secret", "ab@:/secret", "12?secret", "h/?w=1&secret", "se@secret"])
async def test_a_password_that_is_not_escaped_is_refused_and_never_shown(password):
    with pytest.raises(ConfigError, match="escape the password: %40 for @") as error:
        mongo_client({"MONGO_URL": f"mongodb://u:{password}@127.0.0.1:1/"})
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("url", ["", "http://user:secret@h", "mongodb://user:se:cret@h", "mongodb://u:secret@h:port"])
async def test_a_mongo_url_that_is_none_is_refused_without_its_secrets(url):
    with pytest.raises(ConfigError) as error:
        mongo_client({"MONGO_URL": url})
    assert "MONGO_URL" in str(error.value)
    assert "cret" not in str(error.value)
