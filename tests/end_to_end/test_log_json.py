"""A worker's whole log is JSON where it is told to."""

from __future__ import annotations

import json


def test_every_line_of_the_log_is_json(crawl):
    written = crawl.finish(environment={"LOG_JSON": "1"}).decode()
    lines = [json.loads(line) for line in written.splitlines()]
    assert {"worker-started", "sinks-chosen"} <= {line.get("event") for line in lines}
    assert all(line["time"] and line["level"] and line["logger"] and line["message"] for line in lines)
