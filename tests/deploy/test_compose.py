"""Each compose.yaml in deploy/: by the schema of the Compose Specification, and with parts that know each other."""

from __future__ import annotations

import json
import subprocess
from importlib import resources

import pytest
import yaml
from documents.walk import blocks
from jsonschema import Draft7Validator
from needs import need

from crawler import config
from testbed.servers.process import ROOT

pytestmark = pytest.mark.deploy
FILES = sorted((ROOT / "deploy").rglob("compose.yaml"))


@pytest.fixture(scope="module")
def schema():
    """The specification's schema, as a package brings it along."""
    try:
        folder = resources.files("check_jsonschema.builtin_schemas.vendor")
    except ImportError as error:
        need(error)
    return json.loads((folder / "compose-spec.json").read_text("utf-8"))


@pytest.fixture(params=FILES, ids=lambda file: str(file.relative_to(ROOT)))
def compose(request):
    return yaml.safe_load(request.param.read_text("utf-8"))


def test_it_is_one_by_the_schema(compose, schema):
    assert [f"{list(error.path)}: {error.message}" for error in Draft7Validator(schema).iter_errors(compose)] == []


def test_all_that_is_named_is_there(compose):
    services, volumes, secrets = compose["services"], compose["volumes"], compose.get("secrets", {})
    for service in services.values():
        assert set(service.get("depends_on", {})) <= services.keys()
        assert set(service.get("secrets", ())) <= secrets.keys()
        named = {volume.partition(":")[0] for volume in service.get("volumes", ())}
        assert {name for name in named if not name.startswith((".", "/"))} <= volumes.keys()


def test_what_others_wait_for_has_a_health_check(compose):
    waited_for = {name for service in compose["services"].values() for name in service.get("depends_on", ())}
    assert waited_for
    assert all("healthcheck" in compose["services"][name] for name in waited_for)


def test_all_come_back_after_a_restart_and_workers_have_the_time_to_stop(compose):
    workers = [service for service in compose["services"].values() if service["image"] == "headroom"]
    assert {service["command"][1] for service in workers if "command" in service} == {"producer", "consumer"}
    for service in compose["services"].values():
        assert service["restart"] == "unless-stopped" or "profiles" in service
    for service in workers:
        assert int(service["stop_grace_period"].removesuffix("s")) > 30
        assert service["init"]  # process 1 would be shielded from a SIGTERM while it waits for Redis


def test_its_valkey_neither_forgets_nor_evicts_what_is_known(compose):
    command = compose["services"]["valkey"]["command"]
    assert "--appendonly yes --maxmemory-policy noeviction" in " ".join(command.split())


def test_workers_are_given_settings_and_secrets_that_are_settings(compose):
    for service in compose["services"].values():
        if service["image"] == "headroom":
            assert set(service["environment"]) | set(service.get("secrets", ())) <= set(config.BY_NAME)
            assert all(config.BY_NAME[name].secret for name in service.get("secrets", ()))


def test_the_lines_that_make_the_passwords_make_all_secrets_that_the_parts_share(tmp_path):
    (script,) = (text for language, text in blocks(ROOT / "docs/deploy-containers.md") if language == "sh")
    subprocess.run(["sh", "-ec", script], cwd=tmp_path, check=True)
    compose = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text("utf-8"))
    made = {path.name: path.read_text("utf-8") for path in (tmp_path / "secrets").iterdir()}
    assert {f"secrets/{name}" for name in made} == {secret["file"] for secret in compose["secrets"].values()}
    valkey = made["valkey.conf"].split()[1]
    assert f":{valkey}@valkey:6379" in config.REDIS_URL.of({"REDIS_URL": made["REDIS_URL"]})
    assert f":{made['mongo_password']}@mongo:27017" in config.MONGO_URL.of({"MONGO_URL": made["MONGO_URL"]})
