"""Metrics as text."""

from __future__ import annotations

from crawler.telemetry.exposition import OPENMETRICS, TEXT, Metric, exposition

PAGES = Metric("a_pages", "counter", "Pages.", (({}, 3), ({"site": 'ne"w\\s\n\x1b[2J'}, 1e12)))
MEMORY = Metric("a_used_bytes", "gauge", "Memory,\nin use.", (({}, 0.25),))
NONE = Metric("a_none", "gauge", "None.", ())


def test_names_and_labels_are_escaped_in_prometheus_text():
    content_type, text = exposition([PAGES, MEMORY, NONE])
    assert content_type == TEXT
    assert text.decode().splitlines() == [
        "# HELP a_pages_total Pages.",
        "# TYPE a_pages_total counter",
        "a_pages_total 3",
        'a_pages_total{site="ne\\"w\\\\s \N{REPLACEMENT CHARACTER}[2J"} 1000000000000',
        "# HELP a_used_bytes Memory,\\nin use.",
        "# TYPE a_used_bytes gauge",
        "a_used_bytes 0.25",
    ]


def test_openmetrics_where_it_is_asked_for():
    content_type, text = exposition([PAGES, MEMORY], "application/openmetrics-text;version=1.0.0;q=0.5,*/*;q=0.1")
    assert content_type == OPENMETRICS
    lines = text.decode().splitlines()
    assert lines[:3] == ["# HELP a_pages Pages.", "# TYPE a_pages counter", "a_pages_total 3"]
    assert "# UNIT a_used_bytes bytes" in lines
    assert lines[-1] == "# EOF"
