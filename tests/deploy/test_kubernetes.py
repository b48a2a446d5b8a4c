"""deploy/kubernetes: by Kubernetes' own schemas, and with what a worker needs of a pod."""

from __future__ import annotations

import shutil
import subprocess

import pytest
import yaml
from needs import need

from crawler import config
from crawler.frontier.keys import Keys
from testbed.servers.process import ROOT

pytestmark = pytest.mark.deploy
FOLDER = ROOT / "deploy/kubernetes"
FILES = sorted(path for path in FOLDER.glob("*.yaml") if path.name not in ("kustomization.yaml", "autoscaling.yaml"))
SCHEMAS = ("1.32", "1.37")  # the oldest that is still in use at some provider, and the newest that there is a schema of


def documents(name):
    return list(yaml.safe_load_all((FOLDER / name).read_text("utf-8")))


@pytest.mark.parametrize("version", SCHEMAS)
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_each_object_is_one_by_the_schema_of_kubernetes(file, version):
    try:
        import kubernetes_validate
    except ImportError as error:
        need(error)
    for document in yaml.safe_load_all(file.read_text("utf-8")):
        kubernetes_validate.validate(document, version, strict=True)


def test_kustomize_puts_all_into_the_namespace():
    if not shutil.which("kubectl"):
        pytest.skip("kubectl isn't installed; the schemas hold the same files")
    command = ["kubectl", "kustomize", str(FOLDER)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    made = list(yaml.safe_load_all(done.stdout))
    assert {one["metadata"]["name"] for one in made} == {"headroom", "consumer", "producer"}
    assert {one["metadata"].get("namespace") for one in made} - {"headroom"} == {None}  # the Namespace itself
    workers = [one for one in made if one["kind"] == "Deployment"]
    assert {one["spec"]["template"]["spec"]["containers"][0]["image"] for one in workers} == {"headroom:0.1.0"}


def test_producer_and_consumer_differ_in_names_and_numbers_alone():
    consumer = yaml.safe_dump_all(documents("consumer.yaml")).replace("consumer", "producer")
    assert yaml.safe_dump_all(documents("producer.yaml")) == consumer.replace("replicas: 2", "replicas: 1")


def test_a_pod_has_the_time_to_stop_and_its_limits_and_no_rights():
    pod = documents("consumer.yaml")[0]["spec"]["template"]["spec"]
    (worker,) = pod["containers"]
    assert pod["terminationGracePeriodSeconds"] > 30
    assert set(worker["resources"]["limits"]) == {"cpu", "memory"}
    assert pod["securityContext"]["runAsNonRoot"]
    assert not worker["securityContext"]["allowPrivilegeEscalation"]


def test_what_is_set_are_settings_and_secrets_are_those_that_may_hold_passwords():
    (settings,) = documents("settings.yaml")
    assert set(settings["data"]) < set(config.BY_NAME)
    assert not any(config.BY_NAME[name].secret for name in settings["data"])
    (secret,) = documents("secret.example.yaml")
    assert all(config.BY_NAME[name].secret for name in secret["stringData"])


def test_what_the_number_of_consumers_follows_is_where_ready_pages_are():
    scaled, _password = documents("autoscaling.yaml")
    (trigger,) = scaled["spec"]["triggers"]
    assert trigger["metadata"]["listName"] == Keys("hr").partition(0).of("content", "hosts")
    assert scaled["spec"]["scaleTargetRef"]["name"] == documents("consumer.yaml")[0]["metadata"]["name"]
