"""deploy/kubernetes: by Kubernetes' own schemas, and with what a worker needs of a pod."""

from __future__ import annotations

import shutil
import subprocess
from functools import partial

import pytest
import yaml
from needs import need

from crawler import config
from crawler.frontier.keys import Keys
from testbed.servers.process import ROOT

pytestmark = pytest.mark.deploy
FOLDER = ROOT / "deploy/kubernetes"
NO_OBJECTS = ("kustomization.yaml", "autoscaling.yaml")  # kustomize's own; KEDA's, which these schemas don't know
FILES = sorted(path for path in FOLDER.rglob("*.yaml") if path.name not in NO_OBJECTS)
SCHEMAS = ("1.32", "1.37")  # the oldest that is still in use at some provider, and the newest that there is a schema of


def documents(name):
    return list(yaml.safe_load_all((FOLDER / name).read_text("utf-8")))


@pytest.fixture(scope="module")
def validate():
    """Returns the function that holds an object against the schema of a version."""
    try:
        import kubernetes_validate
    except ImportError as error:
        need(error)
    return partial(kubernetes_validate.validate, strict=True)


@pytest.fixture(scope="module")
def built():
    """What `kubectl apply -k` sends, by kind and name."""
    if not shutil.which("kubectl"):
        pytest.skip("kubectl isn't installed, which comes from no registry that CI could ask")
    command = ["kubectl", "kustomize", str(FOLDER)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return {(one["kind"], one["metadata"]["name"]): one for one in yaml.safe_load_all(done.stdout)}


def pod_of(deployment):
    return deployment["spec"]["template"]["spec"]


@pytest.mark.parametrize("version", SCHEMAS)
@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(FOLDER)))
def test_each_object_is_one_by_the_schema_of_kubernetes(validate, file, version):
    for document in yaml.safe_load_all(file.read_text("utf-8")):
        validate(document, version)


@pytest.mark.parametrize("version", SCHEMAS)
def test_what_is_sent_is_by_the_schema_too_and_in_the_namespace(validate, built, version):
    for document in built.values():
        validate(document, version)
    assert {one["metadata"].get("namespace") for one in built.values()} - {"headroom"} == {None}  # the Namespace itself


def test_a_pod_has_the_time_to_stop_and_its_limits_and_no_rights(built):
    pod = pod_of(built["Deployment", "consumer"])
    (worker,) = pod["containers"]
    assert pod["terminationGracePeriodSeconds"] > 30
    assert pod["shareProcessNamespace"]
    assert set(worker["resources"]["limits"]) == {"cpu", "memory"}
    assert pod["securityContext"]["runAsNonRoot"]
    assert not worker["securityContext"]["allowPrivilegeEscalation"]


def test_what_is_set_are_settings_and_secrets_are_those_that_may_hold_passwords():
    (settings,) = documents("settings.yaml")
    assert set(settings["data"]) < set(config.BY_NAME)
    assert not any(config.BY_NAME[name].secret for name in settings["data"])
    (secret,) = documents("secret.example.yaml")
    assert all(config.BY_NAME[name].secret for name in secret["stringData"])


def test_what_the_number_of_consumers_follows_is_where_ready_pages_are(built):
    scaled, _password = documents("autoscaling.yaml")
    (trigger,) = scaled["spec"]["triggers"]
    assert trigger["metadata"]["listName"] == Keys("hr").partition(0).of("content", "hosts")
    assert ("Deployment", scaled["spec"]["scaleTargetRef"]["name"]) in built
