"""Who is signed in, and how long somebody must wait who failed."""

from __future__ import annotations

from monitor.conftest import PASSWORD

from crawler.monitor.sign_ins import FORGOTTEN_SECONDS, FREE_FAILURES, MAX_USER_SIGN_INS, SignIns, SignInTries
from crawler.monitor.users import UserFile


def test_each_failure_beyond_the_free_ones_doubles_the_pause():
    clock = [0.0]
    tries = SignInTries(lambda: clock[0])
    pauses = []
    for _ in range(FREE_FAILURES["pair"] + 3):
        tries.fail("ann", "192.0.2.1")
        pauses.append(tries.wait_s("ann", "192.0.2.1"))
        clock[0] += pauses[-1]
        assert tries.wait_s("ann", "192.0.2.1") == 0
    assert pauses == [0, 0, 0, 0, 1, 2, 4, 8]
    clock[0] += FORGOTTEN_SECONDS
    tries.fail("ann", "192.0.2.1")
    assert tries.wait_s("ann", "192.0.2.1") == 0


def test_nobody_waits_for_the_failures_of_others_behind_one_address():
    tries = SignInTries(lambda: 0.0)
    for number in range(200):
        tries.fail(f"guess{number % 20}", "192.0.2.1")
    assert tries.wait_s("ann", "192.0.2.1") == 0
    assert tries.wait_s("guess1", "192.0.2.1") > 0


def test_whoever_signs_in_again_and_again_ends_no_sign_in_but_their_own(tmp_path):
    users = UserFile(str(tmp_path / "users.json"))
    for name in ("ann", "bob"):
        users.put(name, "viewer", PASSWORD)
    ann, bob = (users.users()[name] for name in ("ann", "bob"))
    sign_ins = SignIns(users)
    first, others = sign_ins.begin(bob), [sign_ins.begin(ann) for _ in range(MAX_USER_SIGN_INS + 1)]
    assert [sign_ins.of(token) is None for token in (first, others[0], others[1])] == [False, True, False]
