"""The file of the monitor's users."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from monitor.conftest import PASSWORD

from crawler.base.errors import HeadroomError
from crawler.monitor.users import UserFile


@pytest.fixture
def path(tmp_path):
    return tmp_path / "users.json"


@pytest.fixture
def users(path):
    users = UserFile(str(path))
    users.put("ann", "operator", PASSWORD)
    return users


def test_only_its_owner_reads_it_and_it_has_no_password(users, path):
    assert path.stat().st_mode & 0o777 == 0o600
    text = path.read_text()
    assert PASSWORD not in text
    assert "$argon2id$" in text


def test_a_user_is_known_by_the_password(users):
    assert users.check("ann", PASSWORD).role == "operator"
    assert users.check("ann", PASSWORD + "x") is None
    assert users.check("bob", PASSWORD) is None


def test_a_role_may_do_what_lesser_ones_may(users):
    users.put("bob", "analyst", PASSWORD)
    bob = users.users()["bob"]
    assert [bob.may(role) for role in ("viewer", "analyst", "operator")] == [True, True, False]


def test_another_password_and_no_user(users):
    users.put("ann", "viewer", "another horse battery")
    assert users.check("ann", PASSWORD) is None
    users.remove("ann")
    assert users.users() == {}
    with pytest.raises(HeadroomError, match="no user 'ann'"):
        users.remove("ann")


def test_of_many_who_are_added_at_once_none_is_lost(path):
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda number: UserFile(str(path)).put(f"user{number}", "viewer", PASSWORD), range(6)))
    assert sorted(UserFile(str(path)).users()) == [f"user{number}" for number in range(6)]


def test_a_damaged_file_is_mended_by_the_command_that_is_named(path):
    path.write_text("{")
    path.chmod(0o600)
    with pytest.raises(HeadroomError, match="scrapy monitor user add makes another"):
        UserFile(str(path)).users()
    UserFile(str(path)).put("ann", "operator", PASSWORD)
    assert list(UserFile(str(path)).users()) == ["ann"]
    assert path.with_name("users.json.damaged").read_text() == "{"


@pytest.mark.parametrize(
    ("name", "password", "said"),
    [("", PASSWORD, "user ''"), ("a b", PASSWORD, "user 'a b'"), ("<i>", PASSWORD, "letters"), ("a", "short", "12")],
)
def test_what_no_user_can_have(users, name, password, said):
    with pytest.raises(HeadroomError, match=said):
        users.put(name, "viewer", password)


def test_a_file_that_others_may_read_is_refused(users, path):
    path.chmod(0o640)
    with pytest.raises(HeadroomError, match="chmod 600"):
        users.users()


@pytest.mark.parametrize("text", ["", "[]", '{"users": []}', '{"users": {"a": {"role": "root", "hash": ""}}}'])
def test_a_damaged_file_is_said(users, path, text):
    path.write_text(text)
    with pytest.raises(HeadroomError, match="no file of users"):
        users.users()
