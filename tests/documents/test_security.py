"""Changes Redis' password as docs/security.md says, by its own commands."""

from __future__ import annotations

import re

import pytest
from documents.walk import ROOT
from least_rights import acl_rule

PAGE = ROOT / "docs" / "security.md"
ADD, REMOVE = re.findall(r"`(ACL SETUSER [^`]+)`", PAGE.read_text("utf-8"))


@pytest.fixture
def refused(crawl):
    """Returns a function that says whether a command by the user with a password is refused."""
    crawl.redis.execute_command("ACL", "SETUSER", "headroom", "reset", "on", ">OLD", *acl_rule("hr").split())

    def is_refused(password):
        url = crawl.redis_url.replace("://", f"://headroom:{password}@")
        done = crawl.run("nodes", environment={"REDIS_URL": url})
        assert password not in done.stdout + done.stderr
        if done.returncode:
            assert "invalid username-password pair" in done.stderr
        return done.returncode == 1

    yield is_refused
    crawl.redis.execute_command("ACL", "DELUSER", "headroom")


def test_both_passwords_work_until_the_old_one_is_taken_away(crawl, refused):
    assert (refused("OLD"), refused("NEW")) == (False, True)
    crawl.redis.execute_command(*ADD.split())
    assert (refused("OLD"), refused("NEW")) == (False, False)
    crawl.redis.execute_command(*REMOVE.split())
    assert (refused("OLD"), refused("NEW")) == (True, False)
