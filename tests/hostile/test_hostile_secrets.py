"""Secrets that operators give to workers and commands are nowhere to be read afterwards."""

from __future__ import annotations

import json
import uuid

import pytest
import redis
import topics
from crawl import Crawl
from hostile.hostile_wire_bodies import answer
from hostile.pages import page, serving
from pymongo import MongoClient
from waiting import until

from testbed.servers import Redis

pytestmark = pytest.mark.faults  # it needs a Redis, a Kafka and a Mongo, and many commands
SITE = """
name: hostile
content:
  title: css:title
  content: {select: css:article, required: true}
  images: {select: css:img, all: true}
politeness: {delay: 0, concurrency: 8, burst: 50}
"""
# By place; none may show anywhere, in any of these forms.
SECRETS = {
    "REDIS_URL": "canary-redis-7f3a",
    "MONGO_URL": "canary-mongo-91bc",
    "KAFKA_SASL_PASSWORD": "canary-kafka-2d0e",
    "http_proxy": "canary-proxy-55aa",
    "http_proxy in base64": "dXNlcjpjYW5hcnktcHJveHktNTVhYQ==",
    "FILES_STORE": "canary-store-c3d4",
    "AWS_SECRET_ACCESS_KEY": "canary-aws-secret-8e8e",
    "AWS_ACCESS_KEY_ID": "canary-aws-id-1212",
    "FTP_PASSWORD": "canary-ftp-6b6b",
    "MAIL_PASS": "canary-mail-3c3c",
    "TELNETCONSOLE_PASSWORD": "canary-telnet-4d4d",
    "FEEDS": "canary-feed-5e5e",
    "REDIS_PARAMS": "canary-params-6f6f",
    "plugin": "canary-plugin-7a7a",
    "seed": "canary-seed-8b8b",
    "seed of another scheme": "canary-ftpseed-9c9c",
    "long seed": "canary-longseed-0d0d",
    "link": "canary-link-1e1e",
    "image": "canary-image-2f2f",
    "redirect": "canary-redirect-3a3a",
    "redirect elsewhere": "canary-elsewhere-4b4b",
    "robots.txt": "canary-robots-5c5c",
    "site base": "canary-base-6d6d",
    "site search": "canary-search-7e7e",
    "site link": "canary-template-8f8f",
    "plan base": "canary-plan-9a9a",
}
USER = "user"
OF_SCRAPY = ("AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "FTP_PASSWORD", "MAIL_PASS", "TELNETCONSOLE_PASSWORD")
SHOWN = ("ledger --verify", "nodes", "seeds list", "seeds list --json", "plan list")  # commands
STORE = f"ftp://{USER}:{SECRETS['FILES_STORE']}@127.0.0.1:1/media"
FEEDS = json.dumps({f"ftp://{USER}:{SECRETS['FEEDS']}@127.0.0.1:1/feed.json": {"format": "jsonlines"}})
SETTINGS = {
    "ALLOW_PRIVATE_ADDRESSES": 1,
    "LOG_LEVEL": "DEBUG",
    "FILES_STORE": STORE,
    **{name: SECRETS[name] for name in OF_SCRAPY},
    "PLUGIN_API_KEY": SECRETS["plugin"],
    "MAX_ATTEMPTS": 1,
}
SASL = {
    "KAFKA_SECURITY_PROTOCOL": "SASL_PLAINTEXT",
    "KAFKA_SASL_MECHANISM": "PLAIN",
    "KAFKA_SASL_USERNAME": USER,
    "KAFKA_SASL_PASSWORD": SECRETS["KAFKA_SASL_PASSWORD"],
}


def with_user(url, name):
    """Returns a URL with one of the secrets as its password."""
    return url.replace("://", f"://{USER}:{SECRETS[name]}@", 1)


def moved(to):
    return answer(b"", b"Location: " + to.encode(), status=b"302 Found")


def pages(web):
    links = f'<a href="{with_user(web.url, "link")}/linked">x</a>'
    away = with_user(web.url, "redirect elsewhere").replace("127.0.0.1", "localhost")
    return {
        "/robots.txt": moved(f"{with_user(web.url, 'robots.txt')}/moved.txt"),
        "/moved.txt": answer("User-agent: *\nAllow: /\n", kind=b"text/plain"),
        "/plain": page(extra=links),
        "/seed": page(),
        "/target": page(),
        "/redirect": moved(f"{with_user(web.url, 'redirect')}/target"),
        "/away": moved(f"{away}/target"),
        "/image": page(extra=f'<img src="{with_user(web.url, "image")}/image.png">'),
        "/image.png": answer(b"\x89PNG" + b"x" * 100, kind=b"image/png"),
    }


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """A Redis with a password; gives the URL that has it."""
    with Redis(tmp_path_factory.mktemp("guarded")) as server:
        with redis.Redis(port=server.port) as client:
            client.config_set("requirepass", SECRETS["REDIS_URL"])
        yield f"redis://:{SECRETS['REDIS_URL']}@127.0.0.1:{server.port}/0"


@pytest.fixture(scope="module")
def said(fork_server, guarded, mongo_server, kafka_server, tmp_path_factory):
    """Everything that anybody could read, by place."""
    places: dict[str, bytes] = {}

    def keep(name, done):
        places[f"{name}: stdout"], places[f"{name}: stderr"] = done.stdout.encode(), done.stderr.encode()
        return done

    folder, mongo_database = tmp_path_factory.mktemp("secrets"), f"secrets_{uuid.uuid4().hex}"
    site = {}
    with serving(site) as web, Crawl(fork_server, folder, guarded, SETTINGS) as crawl:
        crawl.write_site("hostile", SITE)
        site |= pages(web)
        offered = [f"{with_user(web.url, 'seed')}/seed"]
        offered += [f"{web.url}/{name}" for name in ("plain", "redirect", "away")]
        offered += [with_user("ftp://a.example/x", "seed of another scheme")]
        offered += [with_user(f"http://{'a' * 9000}.example/", "long seed")]
        offered += [f"http://{'u' * 50}:{SECRETS['long seed']}@a.example/{'x' * 9000}"]
        for words in ("seeds offer", "seeds offer --json"):
            keep(words, crawl.run(*words.split(), "--site", "hostile", "-", stdin="\n".join(offered)))
        environment = {
            "http_proxy": with_user(web.url, "http_proxy"),
            "KAFKA_BOOTSTRAP_SERVERS": kafka_server.bootstrap,
            "MONGO_URL": mongo_server.url,
            "MONGO_DATABASE": mongo_database,
        }
        settings = {"FEEDS": FEEDS, "ITEM_SINKS": "files,kafka,mongo", "TOPIC_PREFIX": "secrets."}
        places["log"] = crawl.finish(environment=environment, **settings)
        assert all(b"Proxy-Authorization" in one.head for one in web.asked)  # the secrets were put to use
        places["items in files"] = b"\n".join(crawl.lines())
        places["items in Mongo"] = repr(documents(mongo_server.url, mongo_database)).encode()
        places["items in Kafka"] = repr(topics.records(kafka_server.bootstrap, "secrets.hostile")).encode()
        sinks(crawl, web, places, mongo_server, kafka_server)
        for words in SHOWN:
            keep(words, crawl.run(*words.split()))
        for name, words, given in refused(crawl, folder):
            done = keep(name, crawl.run(*words, **given))
            assert done.returncode == 1, name
            assert "Traceback" not in done.stderr, name
        places["Redis"] = repr(dump(crawl.redis)).encode()
    return places


def dump(client):
    """Returns every key and value of Redis."""
    readers = {
        b"string": client.get,
        b"hash": client.hgetall,
        b"set": client.smembers,
        b"stream": client.xrange,
        b"zset": lambda key: client.zrange(key, 0, -1, withscores=True),
        b"list": lambda key: client.lrange(key, 0, -1),
    }
    return {key: readers[client.type(key)](key) for key in client.scan_iter(count=1_000)}


def documents(url, database):
    with MongoClient(url) as client:
        items = list(client[database]["items"].find())
        client.drop_database(database)
    return items


def sinks(crawl, web, places, mongo_server, kafka_server):
    """Has workers meet sinks that refuse their password, and a store that is away."""
    crawl.offer([f"{web.url}/image"], "hostile")
    environment = SASL | {
        "KAFKA_BOOTSTRAP_SERVERS": kafka_server.bootstrap,
        "MONGO_URL": with_user(mongo_server.url, "MONGO_URL") + "/?authSource=admin",
        "MONGO_DATABASE": "secrets",
    }
    done = crawl.run("crawl", "consumer", settings={"ITEM_SINKS": "mongo"}, environment=environment)
    assert done.returncode == 1
    places["start of a worker that Mongo refuses"] = (done.stdout + done.stderr).encode()
    worker = crawl.worker(ITEM_SINKS="files,kafka", environment=environment)
    until(
        lambda: any("kafka" in one["sinks_down"] for one in crawl.workers()), "the worker to say that Kafka refuses it"
    )
    places["nodes of a worker without sinks"] = json.dumps(crawl.workers()).encode()
    worker.stop()
    places["log of a worker without sinks"] = worker.log.read_bytes()
    store = crawl.worker()
    until(lambda: b"media store takes nothing" in store.log.read_bytes(), "the store to be found away")
    store.stop()
    places["log of a worker without a store"] = store.log.read_bytes()


def refused(crawl, folder):
    """Yields commands that can't be carried out: a name, the words, and what is set."""
    searched = 'search: {{url: "{}/?q={{query}}"}}\nresults: {{links: "css:a"{}}}\n'
    plain = "http://a.example"
    for name, text in {
        "base": f"name: x\nbase: {with_user(plain, 'site base')}\n",
        "search": "name: x\n" + searched.format(with_user(plain, "site search"), ""),
        "link": "name: x\n" + searched.format(plain, f', link: "{with_user(plain, "site link")}/{{value}}"'),
    }.items():
        file = folder / f"{name}.yaml"
        file.write_text(text)
        yield f"site check {name}", ["site", "check", file], {}
    plan = folder / "plan.yaml"
    place = with_user(plain, "plan base")
    plan.write_text(
        f'name: p\nsites: [{{use: mediawiki, name: w, base: "{place}"}}]\nkeywords: {{a: {{required: [x]}}}}\n'
    )
    yield "plan submit", ["plan", "submit", plan], {}
    password = SECRETS["REDIS_URL"]
    for name, url in {
        "wrong password": crawl.redis_url.replace(password, f"{password}x"),
        "nobody there": f"redis://:{password}@127.0.0.1:1/0",
        "no port": f"redis://:{password}@127.0.0.1:port/0",
        "no scheme": f"foo://:{password}@127.0.0.1:1/0",
        "unescaped": f"redis://:{password}/@#?x@127.0.0.1:1/0",
        "TLS": f"rediss://:{password}@127.0.0.1:1/0",
        "no option": f"redis://127.0.0.1:1/0?password={password}&db=x",
    }.items():
        yield f"Redis, {name}", ["ledger", "-L", "DEBUG"], {"environment": {"REDIS_URL": url}}
        if name in ("wrong password", "nobody there"):
            settings = {"CONNECT_SECONDS": 0}
            yield f"crawl, {name}", ["crawl", "consumer"], {"settings": settings, "environment": {"REDIS_URL": url}}
    parameters = {"REDIS_PARAMS": json.dumps({"password": SECRETS["REDIS_PARAMS"], "socket_timeout": 1})}
    nobody = {"REDIS_URL": "redis://127.0.0.1:1/0"}
    yield "REDIS_PARAMS", ["ledger", "-L", "DEBUG"], {"settings": parameters, "environment": nobody}
    for name, url in {
        "no scheme": f"foo://{USER}:{SECRETS['MONGO_URL']}@127.0.0.1",
        "unescaped": f"mongodb://{USER}:{SECRETS['MONGO_URL']}@/x@127.0.0.1",
        "no port": f"mongodb://{USER}:{SECRETS['MONGO_URL']}@127.0.0.1:port",
    }.items():
        given = {"settings": {"ITEM_SINKS": "mongo"}, "environment": {"MONGO_URL": url}}
        yield f"Mongo, {name}", ["crawl", "consumer"], given
    yield "Kafka, nobody there", ["items", "tail", "hostile", "-L", "DEBUG"], {"environment": SASL}
    contradiction = SASL | {"KAFKA_SECURITY_PROTOCOL": "PLAINTEXT"}
    yield "Kafka, contradiction", ["items", "tail", "hostile"], {"environment": contradiction}


@pytest.mark.parametrize("name", SECRETS)
def test_it_is_nowhere_to_be_read(said, name):
    secret = SECRETS[name].encode()
    assert {place: text.count(secret) for place, text in said.items() if secret in text} == {}


def test_there_was_something_to_read(said):
    hidden = (b"'AWS_SECRET_ACCESS_KEY': '***'", b"ftp://***@127.0.0.1:1/media")
    for words in (b"Overridden settings", b"DEBUG", b"Dumping Scrapy stats", *hidden):
        assert words in said["log"]
    assert all(len(said[place]) > 1_000 for place in ("Redis", "items in files", "items in Mongo", "items in Kafka"))
