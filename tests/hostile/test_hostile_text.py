"""Text from pages, headers, plans and Redis stays text: in logs, terminals, files, MongoDB, Kafka and file names."""

from __future__ import annotations

import json
import re
from contextlib import closing
from html import escape
from pathlib import Path

import orjson
import pytest
import redis
import topics
from crawl import crawl_to_every_sink
from hostile.hostile_wire_bodies import answer
from hostile.pages import ARTICLE, serving
from kafka import KafkaProducer
from pymongo import MongoClient
from waiting import PATIENCE_SECONDS

from crawler.base.models import Seed

pytestmark = pytest.mark.faults  # a crawl to Kafka and Mongo, and every command

SPOILED = "http://127.0.0.1:1/spoiled"
FORGED = "2026-11-21 00:00:00 [crawler.worker.worker] INFO: forged"
TEXTS = {
    "CR and LF": f"a\r\n{FORGED}",
    "LF": f"a\n{FORGED}",
    "CR": f"a\r{FORGED}",
    "clear screen": "\x1b[2J\x1b[H",
    "colour": "\x1b[31mred\x1b[0m",
    "C1 controls": "\x9b2J\x9d0;owned\x9c",
    "terminal title": "\x1b]0;owned\x07",
    "hyperlink": "\x1b]8;;http://a.example\x1b\\x\x1b]8;;\x1b\\",
    "answerback": "\x05\x1b[c\x1b[6n",
    "NUL": "a\0b",
    "backspace": "good\x08\x08\x08\x08evil",
    "delete": "a\x7fb",
    "bidi override": "\u202egnp.exe",
    "bidi isolate": "\u2066a\u2069",
    "line separator": f"a\u2028{FORGED}",
    "paragraph separator": f"a\u2029{FORGED}",
    "next line": f"a\x85{FORGED}",
    "vertical tab": f"a\x0b{FORGED}\x0c{FORGED}",
    "zero width": "a\u200bb\ufeffc",
    "tags": "a\U000e0041\U000e007f",
    "script": "<script>alert(1)</script>",
    "attribute": "\"' onload=alert(1) x='",
    "formats": "%s %(x)s {0} {x!r} %n",
    "markup of rich": "[red]x[/red] [link=file:///etc/passwd]y[/link]",
    "shell": "$(touch x); `touch x` | touch x",
    "formula": "=cmd|'/c calc'!A1",
    "path": "../../../../etc/passwd",
    "operator": "$where",
    "dotted": "a.b.$c",
    "very long": "A" * 300_000,
    "very long, controls": "\x1b[2J" * 50_000,
    "nothing but marks": "\u0301" * 1_000,
}
HTML = """
name: html
content:
  title: css:title
  author: css:.author
  published: css:time
  content: {select: css:article, required: true}
  images: {select: css:img, all: true}
  extra: {one: css:.extra, many: {select: css:.extra, all: true}}
politeness: {delay: 0, concurrency: 16, burst: 50}
"""
PARSED = """
name: parsed
parser: hostile.hostile_parser:read
politeness: {delay: 0, concurrency: 16, burst: 50}
"""
RECORD = re.compile(rb"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \[[\w.]+\] [A-Z]+: ")
FILE_NAME = re.compile(r"[0-9a-f]{2}/[0-9a-f]{64}(\.[a-z0-9]{1,5})?")
HTML_KIND = b"text/html; charset=utf-8"
IMAGE = b"\x89PNG" + b"x" * 100
IN_JSON = "seeds list, seeds show, seeds offer, ledger --verify, nodes, plan list, plan show, plan check, site check"


def inert(output):
    """Returns whether bytes that a terminal gets are only text and line ends."""
    text = output.decode()
    return text.replace("\n", "").isprintable()


def raw(text):
    """Returns text as bytes for a header: without what would end it there and then."""
    return text[:5_000].replace("\r", " ").replace("\n", " ").replace("\0", " ").encode("utf-8", "surrogateescape")


def pages():
    answers = {}
    for number, text in enumerate(TEXTS.values()):
        marked, header = escape(text), raw(text)
        body = f"<span class=author>{marked}</span><time>{marked}</time><b class=extra>{marked}</b>"
        body += f'<img src="/image-{number}.png?{escape(text[:2_000])}"><a href="{escape(text[:2_000])}">x</a>'
        html = f"<!doctype html><title>{marked}</title>{body}<article>{marked}</article>{ARTICLE}"
        read = {"title": text, "author": text, "content": "words " * 20 + text, "published": text}
        read |= {"extra": {text[:1_000]: text, "list": [text]}, "images": [f"/image-{number}.png", text[:1_000]]}
        answers |= {
            f"/html-{number}": answer(html, b"Server: " + header, b"X-Junk: " + header, kind=HTML_KIND),
            f"/image-{number}.png": answer(IMAGE + bytes([number]), kind=b"image/png" + header),
            f"/parsed-{number}": answer(json.dumps(read), kind=b"application/json"),
            f"/fails-{number}": answer(json.dumps({"reason": text}), kind=b"application/json"),
            f"/kind-{number}": answer(html, kind=header),
            f"/moved-{number}": answer(b"", b"Location: " + header, status=b"302 Found"),
            f"/later-{number}": answer(b"", b"Retry-After: " + header, status=b"503 Busy"),
            f"/coded-{number}": answer(html, b"Content-Encoding: " + header),
        }
    return answers


@pytest.fixture(scope="module")
def places(fork_server, redis_server, mongo_server, kafka_server, tmp_path_factory):
    """A folder, a database and a topic prefix that no other test has."""
    settings = {"PARSER_MODULES": "hostile.hostile_parser", "MAX_ATTEMPTS": 1, "LOG_LEVEL": "DEBUG"}
    folder = tmp_path_factory.mktemp("text")
    with crawl_to_every_sink(fork_server, folder, redis_server, kafka_server, mongo_server, **settings) as crawl:
        crawl.environment["PYTHONPATH"] = str(Path(__file__).parents[1])
        crawl.write_site("html", HTML)
        crawl.write_site("parsed", PARSED)
        yield crawl


@pytest.fixture(scope="module")
def crawled(places):
    """What came of pages that hold each of the texts wherever a page can hold text."""
    site = pages()
    with serving(site) as web, serving(site) as ill:
        html = [f"{web.url}{path}" for path in site if path.startswith(("/html", "/kind", "/moved", "/coded"))]
        html += [f"{ill.url}/later-{number}" for number in (3, 5)]  # more would take time: the host is left alone
        html += [f"{web.url}/html-{number}?{text[:2_000]}" for number, text in enumerate(TEXTS.values())]
        parsed = [f"{web.url}{path}" for path in site if path.startswith(("/parsed", "/fails"))]
        for site, urls in (("html", html), ("parsed", parsed)):
            done = places.run("seeds", "offer", "--site", site, "-", stdin="\n".join(urls))
            assert inert((done.stdout + done.stderr).encode())
        places.said = places.finish(RETRY_BASE_SECONDS=0, ROBOTS_RETRY_SECONDS=0)
        places.web = web.url
        yield places


@pytest.fixture(scope="module")
def outputs(crawled):
    """What commands print of texts that lie in Redis and Kafka, in plans and in arguments."""
    spoil(crawled)
    folder = crawled.folder
    words = [text for text in TEXTS.values() if 0 < len(text) < 100 and "\0" not in text]
    plan = {"name": "p", "sites": ["mediawiki"], "keywords": {"a": {"optional": words}}}
    place = {"use": "mediawiki", "name": "w", "base": "http://127.0.0.1:1"}
    (folder / "plan.yaml").write_text(json.dumps(plan | {"sites": [place]}))
    (folder / "wrong.yaml").write_text(json.dumps({"name": TEXTS["clear screen"], TEXTS["LF"]: TEXTS["C1 controls"]}))
    (folder / "junk.yaml").write_bytes(b"a: \x1b[2J\nb: !!python/object/apply:os.system ['touch x']\n")
    web, strange = crawled.web, "\x1b[2J\x9b2J\u202e\r\n" + FORGED
    cases = [
        ["seeds", "list", "--limit", "10000"],
        ["seeds", "show", f"{web}/html-3?{TEXTS['colour']}"],
        ["seeds", "show", SPOILED],
        ["seeds", "show", strange],
        ["seeds", "offer", strange],
        ["seeds", "offer", "--site", strange, "http://a.example/"],
        ["seeds", "offer", "--plan", strange, "http://a.example/"],
        ["seeds", "retry", "--reason", strange],
        ["seeds", strange],
        ["ledger"],
        ["ledger", "--verify"],
        ["ledger", strange],
        ["nodes"],
        ["plan", "list"],
        ["plan", "show", strange],
        ["plan", "pause", strange],
        ["plan", "check", folder / "plan.yaml"],
        ["plan", "submit", folder / "plan.yaml"],
        ["plan", "show", "p"],
        ["plan", "check", folder / "wrong.yaml"],
        ["plan", "check", folder / "junk.yaml"],
        ["plan", "check", f"{strange}.yaml"],
        ["site", "check", folder / "wrong.yaml"],
        ["site", "check", folder / "junk.yaml"],
        ["items", "tail", "html", "--from-start", "--count", str(len(TEXTS))],
        ["items", "tail", strange],
        ["crawl", strange],
    ]
    cases += [["site", "check", "html", f"{web}/{name}-3"] for name in ("html", "kind", "moved", "later", "coded")]
    cases += [[*case, "--json"] for case in cases if " ".join(case[:2]) in [*IN_JSON.split(", "), "items tail"]]
    with serving(pages()) as again:
        cases = [tuple(str(word).replace(web, again.url) for word in case) for case in cases]
        return {case: crawled.run(*case) for case in cases}


def spoil(crawl):
    """Puts texts where only our own processes should write."""
    prefix, strange = crawl.settings["KEY_PREFIX"], "\x1b[2J\x9b2J\u202e\r\n" + FORGED
    part = f"{prefix}:{{0}}"
    seed = Seed(SPOILED, "strange", "html", keywords=(strange,))
    with redis.Redis.from_url(crawl.redis_url) as client:
        client.hset(f"{part}:content:seed", seed.fingerprint, seed.dump())
        client.hset(f"{part}:content:reasons", seed.fingerprint, strange)
        client.zadd(f"{part}:content:fail", {seed.fingerprint: 1})
        client.sadd(f"{part}:ledgers", f"strange {strange}", f"{strange} html")
        client.hset(f"{part}:ledger:strange:{strange}", mapping={f"content:failed:{strange}": 1, "content:failed": 1})
        owner = f"{strange}:1:1:x"
        client.zadd(f"{part}:sessions", {owner: 1})
        client.zadd(f"{prefix}:{{plans}}:nodes", {strange: 1})
        figures = {"frontier": strange, "sinks_down": [strange], "time": 1, "carrying": strange}
        client.hset(f"{prefix}:{{plans}}:node:{strange}", owner, orjson.dumps(figures))
        record = {"name": strange, "definition": {strange: strange}, "sites": [strange], "edition": 1, "nav_seeds": 1}
        client.hset(f"{prefix}:{{plans}}:plans", strange, orjson.dumps(record))
    topic = crawl.settings["TOPIC_PREFIX"] + "html"
    with closing(KafkaProducer(bootstrap_servers=crawl.environment["KAFKA_BOOTSTRAP_SERVERS"])) as producer:
        message = {"id": strange, "time": strange, "title": strange, "url": strange}
        headers = [("x", strange.encode())]
        producer.send(topic, json.dumps(message).encode(), key=strange.encode(), headers=headers).get(PATIENCE_SECONDS)


def test_each_line_of_the_log_is_a_record_or_goes_on_with_one_and_acts_on_no_terminal(crawled):
    lines = crawled.said.split(b"\n")
    assert len(lines) > 100
    assert [line for line in lines[:-1] if not RECORD.match(line) and not line.startswith(b"    ")] == []
    assert b"forged" in crawled.said
    assert not re.search(rb"^\S+ \S+ \[crawler.worker.worker\] INFO: forged", crawled.said, re.MULTILINE)
    assert inert(crawled.said)
    assert max(map(len, lines)) < 100_000


def test_items_with_it_are_lines_of_json_with_clean_texts(crawled):
    numbers = set()
    for item in crawled.items():
        if page := re.search(r"/(?:html|parsed)-(\d+)(?:\?|$)", item["url"]):
            numbers.add(int(page[1]))
        for text in (item["title"], item["author"] or "", item["plan"], item["url"], *item["keywords"]):
            assert inert(text.encode())
            assert "\n" not in text
        for text in strings(item["extra"]):
            assert text.replace("\n", "").isprintable()
        for image in item["images"]:
            assert inert(json.dumps(image).encode())
            assert image["path"] is None or FILE_NAME.fullmatch(image["path"])
    assert numbers == set(range(len(TEXTS))), crawled.unfinished()


def strings(value):
    """Yields all strings in a value of JSON types, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, entry in value.items():
            yield key
            yield from strings(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from strings(entry)


def test_files_hold_lines_of_items_media_are_named_by_what_they_are_and_reasons_are_words(crawled):
    lines = crawled.lines()
    assert len(lines) >= 2 * len(TEXTS)
    assert all(isinstance(json.loads(line)["id"], str) for line in lines)
    assert {file.name.split(".")[0] for file in (crawled.folder / "items").iterdir()} == {"html", "parsed"}
    store = crawled.folder / "media"
    names = [str(path.relative_to(store)) for path in store.rglob("*") if path.is_file()]
    assert len(names) >= len(TEXTS) - 2
    assert [name for name in names if not FILE_NAME.fullmatch(name)] == []
    reasons = {reason for _state, reason in crawled.unfinished().values()} | set(crawled.total()["failures"])
    assert [reason for reason in reasons if not re.fullmatch(r"[a-z0-9-]{1,40}", reason)] == []


def test_documents_in_mongo_have_no_operators_for_keys(crawled, mongo_server):
    with MongoClient(mongo_server.url) as client:
        found = list(client[crawled.environment["MONGO_DATABASE"]]["items"].find())
    assert len(found) >= 2 * len(TEXTS)
    keys = [key for document in found for key in document["extra"]]
    assert "\uff04where" in keys
    assert "a\uff0eb\uff0e\uff04c" in keys
    assert [key for key in keys if set(key) & set("$.\0")] == []


def test_messages_in_kafka_have_plain_keys_and_no_headers(crawled):
    bootstrap, prefix = crawled.environment["KAFKA_BOOTSTRAP_SERVERS"], crawled.settings["TOPIC_PREFIX"]
    of_sites = {prefix + site for site in ("html", "parsed")}
    made = topics.names(bootstrap, prefix)
    assert made - {f"{prefix}headroom.proof"} == of_sites  # a refused item has the sink prove that it works
    found = topics.records(bootstrap, *of_sites)
    assert len(found) >= 2 * len(TEXTS)
    for message in found:
        assert re.fullmatch(rb"[0-9a-f]{32}", message.key) or b"forged" in message.key
        assert message.headers == [] or b"forged" in message.key
        assert isinstance(json.loads(message.value)["id"], str)


def test_commands_print_nothing_that_acts_on_a_terminal_and_no_line_that_was_forged(outputs):
    loud = {case: done for case, done in outputs.items() if not inert((done.stdout + done.stderr).encode())}
    assert loud == {}
    lines = [line for done in outputs.values() for line in (done.stdout + done.stderr).split("\n")]
    assert any("forged" in line for line in lines)
    assert [line for line in lines if line.startswith(FORGED[:30])] == []


def test_commands_end_with_an_answer_which_may_be_json_or_one_line(outputs):
    for case, done in outputs.items():
        if case[-1] == "--json" and done.stdout:
            for text in done.stdout.strip().split("\n") if case[:2] == ("items", "tail") else [done.stdout]:
                json.loads(text)
        assert "Traceback" not in done.stderr, (case, done.stderr)
        if done.returncode:
            assert done.returncode == 1, case
            assert done.stderr.split("\n")[-2].startswith("error: "), case
