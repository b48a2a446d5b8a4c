"""What deploy/ holds for Prometheus and Grafana: every expression is one, and names metrics that the crawl has."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest
import yaml
from needs import need

from testbed.servers.process import ROOT

PROMETHEUS, DASHBOARD = ROOT / "deploy/prometheus", ROOT / "deploy/grafana/headroom.json"
ROW = re.compile(r"^\| `(headroom_\w+)` \| \w+ \| (.*?) \|", re.MULTILINE)  # a test holds them against the code
METRICS = {
    name: set(re.findall(r"\w+", labels)) for name, labels in ROW.findall((ROOT / "docs/metrics.md").read_text())
}
RULES = [rule for group in yaml.safe_load((PROMETHEUS / "alerts.yml").read_text())["groups"] for rule in group["rules"]]
TESTED = yaml.safe_load((PROMETHEUS / "alerts_test.yml").read_text())["tests"]
SELECTED = re.compile(r"(headroom_\w+)(?:\{(.*?)\})?")


def expressions():
    """Returns the expressions of all panels, by title."""
    panels = json.loads(DASHBOARD.read_text("utf-8"))["panels"]
    return [(panel["title"], target["expr"]) for panel in panels for target in panel.get("targets", ())]


@pytest.mark.parametrize(
    "expression", [*(text for _, text in expressions()), *(rule["expr"] for rule in RULES)], ids=lambda text: text[:60]
)
def test_every_expression_names_metrics_and_labels_that_there_are(expression):
    for name, labels in SELECTED.findall(expression):
        assert set(re.findall(r"(\w+)(?:=|!)", labels)) <= METRICS[name]


def test_every_alert_fires_in_a_test_and_none_in_a_healthy_crawl():
    names = {rule["alert"] for rule in RULES}
    asked = [(one["alertname"], "exp_alerts" in one) for test in TESTED[1:] for one in test["alert_rule_test"]]
    assert {name for name, fires in asked if fires} == names
    healthy = TESTED[0]["alert_rule_test"]
    assert {one["alertname"] for one in healthy if "exp_alerts" not in one} == names


def test_the_page_on_alerts_names_each():
    text = (ROOT / "docs/alerts.md").read_text("utf-8")
    assert set(re.findall(r"`(Headroom[A-Z]\w+)`", text)) == {rule["alert"] for rule in RULES}


@pytest.fixture
def promtool():
    """Returns a function that runs promtool, which needs no Prometheus that runs; it gives what was printed."""
    if not shutil.which("promtool"):
        need("promtool isn't installed (Debian: prometheus)")

    def run(*words, given="", folder=PROMETHEUS):
        done = subprocess.run(
            ["promtool", *words], input=given, cwd=folder, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    return run


@pytest.mark.deploy
def test_prometheus_takes_the_configuration_and_the_alerts_fire(promtool, tmp_path):
    shutil.copytree(PROMETHEUS, tmp_path, dirs_exist_ok=True)
    (tmp_path / "metrics-token").write_text("0123456789abcdef")
    assert "is valid prometheus config" in promtool("check", "config", "prometheus.yml", folder=tmp_path)
    assert "SUCCESS" in promtool("test", "rules", "alerts_test.yml")


@pytest.mark.deploy
def test_prometheus_can_read_every_expression_of_the_dashboard(promtool, tmp_path):
    texts = [text.replace("$__rate_interval", "5m") for _title, text in expressions()]
    rules = [{"record": f"panel:{number}", "expr": text} for number, text in enumerate(texts)]
    (tmp_path / "panels.yml").write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    assert f"{len(rules)} rules found" in promtool("check", "rules", "panels.yml", folder=tmp_path)


@pytest.mark.deploy
def test_prometheus_can_read_the_metrics_and_finds_no_fault_with_their_names(promtool, scrapy):
    promtool("check", "metrics", given=scrapy("stats", "--metrics").stdout)
