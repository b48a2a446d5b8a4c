"""The table of all settings: each stands here once, with its type, range, default and reason.

A new setting is one entry here. Everything else follows from it: `NAME.of(settings)` reads it, typed and checked, from
wherever operators put it (docs/settings.md says where, and which place wins); `check.py` refuses a wrong value, or a
misspelt name, as a process starts; docs/settings.md has it after `make reference`.

How the table is consumed: no settings module repeats it. A component asks `config.SESSION_SECONDS.of(settings)`, which
needs nothing to be set. What Scrapy's own components read of it by themselves (FILES_STORE, DOWNLOAD_TIMEOUT ...) has
to stand in a crawler's settings, and does: `crawler/spiders/base.py:FrontierSpider.update_settings` calls
`check.complete`, so that nothing of it is set for other spiders. Who needs a value of the table earlier, such
as `crawl_settings.py`, takes `config.NAME.default`.

`owner="Scrapy"` marks Scrapy's own settings for which the crawl has a type or a default of its own. They aren't read
from the environment, nor from scrapy.cfg; what a project says of most of them is for its own spiders
(`crawl_settings.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from crawler.base.version import __version__
from crawler.config.setting import (
    Address,
    Bindings,
    Choice,
    Flag,
    Line,
    Location,
    Number,
    Options,
    Section,
    Setting,
    Whole,
    Words,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

# The highest value of a setting in bytes: no answer and no browser is larger than this terabyte.
MAX_BYTES = 1 << 40

SERVERS: Final = Section("Servers")

REDIS_URL: Final = Address(
    "REDIS_URL",
    "redis://127.0.0.1:6379/0",
    "`redis://USER:PASSWORD@HOST:PORT/DATABASE`; `rediss://` is TLS. Its query may hold options of redis-py, such as "
    "`ssl_ca_certs`, `ssl_certfile` and `ssl_keyfile`. Commas part several addresses of a cluster, or of sentinels.",
    schemes=("redis", "rediss", "unix"),
    secret=True,
)
REDIS_CLUSTER: Final = Flag("REDIS_CLUSTER", default=False, why="On: REDIS_URL names nodes of a Redis Cluster.")
REDIS_SENTINEL: Final = Line(
    "REDIS_SENTINEL",
    "",
    "The name under which sentinels know the primary: REDIS_URL then names the sentinels, with the primary's user, "
    "password and database. Empty: there are none.",
)
REDIS_SENTINEL_USERNAME: Final = Line("REDIS_SENTINEL_USERNAME", "", "The sentinels' own user.")
REDIS_SENTINEL_PASSWORD: Final = Line(
    "REDIS_SENTINEL_PASSWORD", "", "The sentinels' own password, where they ask for one.", secret=True
)
REDIS_PARAMS: Final = Options(
    "REDIS_PARAMS",
    {},
    "Further options of the client, which win over those of REDIS_URL.",
    form="keyword arguments of redis.Redis",
    secret=True,
    owner="scrapy-redis",
)
REDIS_HOST: Final = Line(
    "REDIS_HOST",
    "",
    "The host of Redis, which with REDIS_PORT and REDIS_DB makes an address. It counts where REDIS_URL isn't set and "
    "one of these three is.",
    owner="scrapy-redis",
)
REDIS_PORT: Final = Whole(
    "REDIS_PORT", 6_379, "The port of Redis: see REDIS_HOST.", low=1, high=65_535, owner="scrapy-redis"
)
REDIS_DB: Final = Whole(
    "REDIS_DB", 0, "The number of the database in Redis: see REDIS_HOST.", low=0, high=1_000_000, owner="scrapy-redis"
)
CONNECT_SECONDS: Final = Number(
    "CONNECT_SECONDS",
    30,
    "How long a worker looks for Redis at its start before it gives up with exit status 1; a restart of a server takes "
    "less. A Redis that refuses it (a wrong password, a missing right) ends it at once.",
    unit="s",
    low=0,
    high=3_600,
)
KAFKA_BOOTSTRAP_SERVERS: Final = Words(
    "KAFKA_BOOTSTRAP_SERVERS",
    ("127.0.0.1:9092",),
    "The brokers that are asked first; they name all others of the cluster.",
    each="host:port",
    least=1,
)
KAFKA_TOO_LARGE: Final = Choice(
    "KAFKA_TOO_LARGE",
    "cut",
    "What becomes of an item that is larger than Kafka takes (1 MiB, or the topic's `max.message.bytes`): `cut` "
    "delivers it with fewer comments and shorter texts, and its `truncated` says so; `reference` does so, and its "
    "`whole` says where all of it is: in MongoDB, where that is among ITEM_SINKS, else in FILES_STORE, which must be a "
    "folder then; `fail` fails its page as `message-too-large`.",
    choices=("cut", "reference", "fail"),
)
KAFKA_SECURITY_PROTOCOL: Final = Choice(
    "KAFKA_SECURITY_PROTOCOL",
    "PLAINTEXT",
    "Whether the brokers speak TLS (SSL), and whether they want a name and a password (SASL).",
    choices=("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"),
)
KAFKA_SASL_MECHANISM: Final = Choice(
    "KAFKA_SASL_MECHANISM",
    "",
    "How the user's name and password are sent to the brokers; SASL_PLAINTEXT and SASL_SSL need it.",
    choices=("", "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"),  # those for which a name and a password are enough
)
KAFKA_SASL_USERNAME: Final = Line(
    "KAFKA_SASL_USERNAME", "", "The user's name for the brokers, where KAFKA_SASL_MECHANISM is set."
)
KAFKA_SASL_PASSWORD: Final = Line(
    "KAFKA_SASL_PASSWORD", "", "The user's password for the brokers, where KAFKA_SASL_MECHANISM is set.", secret=True
)
KAFKA_SSL_CAFILE: Final = Location(
    "KAFKA_SSL_CAFILE",
    "",
    "Certificates of the authorities that vouch for the brokers, as PEM; empty: the system's.",
    form="a file",
)
KAFKA_SSL_CERTFILE: Final = Location(
    "KAFKA_SSL_CERTFILE", "", "A certificate of one's own, as PEM, for brokers that ask for one.", form="a file"
)
KAFKA_SSL_KEYFILE: Final = Location(
    "KAFKA_SSL_KEYFILE", "", "The private key of the certificate in KAFKA_SSL_CERTFILE, as PEM.", form="a file"
)
MONGO_URL: Final = Address(
    "MONGO_URL",
    "mongodb://127.0.0.1:27017",
    "`mongodb://USER:PASSWORD@HOST:PORT/?authSource=admin&tls=true&tlsCAFile=/path`; its query holds options of "
    "MongoDB, which win over the crawler's.",
    schemes=("mongodb", "mongodb+srv"),
    ends="/?",  # pymongo takes a `#` for a part of the password
    secret=True,
)
MONGO_DATABASE: Final = Line(
    "MONGO_DATABASE",
    "headroom",
    "The database in which the sink `mongo` keeps its collection `items`.",
    pattern=r'[^/\\. "$\0]{1,63}',
    form="a database's name",
)

CRAWLED: Final = Section("What is crawled")

SITES_DIR: Final = Location(
    "SITES_DIR",
    "",
    "The folder with an analyst's own site files; one of them replaces the built-in file of the same name.",
    is_read=True,
)
PARSER_MODULES: Final = Words(
    "PARSER_MODULES",
    (),
    "The modules that a site file's `parser: module:function` may name. Empty: no site file can have code imported.",
    each="names of modules",
)
ITEM_MARKDOWN: Final = Flag(
    "ITEM_MARKDOWN",
    default=False,
    why="On: items of pages without selectors have their content as Markdown, too, in `markdown`.",
)
PLAN_MAX_SEEDS: Final = Whole(
    "PLAN_MAX_SEEDS",
    100_000,
    "The most nav seeds that one plan may have; more are nearly always a mistake in its `choose` or `pages`.",
    low=1,
    high=10_000_000,
)
START_LISTS: Final = Options(
    "START_LISTS",
    {},
    "Lists, sets and sorted sets of URLs in Redis, as spiders of scrapy-redis read them, whose entries become content "
    "seeds.",
    form='names of lists in Redis, each with what its entries are for: {"myspider:start_urls": {"plan": "books", '
    '"site": "web", "ignore": ["meta"]}}; site and ignore may be missing',
)
MAX_LINKS_PER_PAGE: Final = Whole(
    "MAX_LINKS_PER_PAGE",
    1_000,
    "The most results that are taken of one search page, or links that are followed from one page. Real pages have "
    "fewer, unless a plan's `per_page` asks for more; the stat `links/left_out` counts those that are left out. Of a "
    "sitemap 50,000 are taken, as many as its format allows.",
    low=1,
    high=10_000,
)
URL_FILTERS: Final = Options(
    "URL_FILTERS",
    {},
    "Classes of yours that judge addresses for the `scope` of plans, beside those that ship; null takes one of these "
    "out. docs/analyst.md says what plans ask of them, and how one is written.",
    form='paths of filters, each with its place in their order, the cheapest first: {"shop.filters.Weekday": 50}',
)
LINK_SCORERS: Final = Options(
    "LINK_SCORERS",
    {},
    "Classes of yours that say which links come first, by the names that the `order` of plans has for them, beside "
    "`breadth-first` and `focused`. docs/analyst.md says how one is written.",
    form='paths of scorers by name: {"newest-first": "shop.scorers.NewestFirst"}',
)
REGION_DB: Final = Location(
    "REGION_DB",
    "",
    "The database of the regions of IP addresses (MaxMind DB, of countries or cities), which plans with "
    "`scope: {regions: ...}` ask; the extra `geo` reads it. A file that takes its place is used within ten seconds, if "
    "it is one. Empty: there is none, since each operator has a licence of his own.",
    form="a file",
)
REGION_DB_MAX_AGE_DAYS: Final = Whole(
    "REGION_DB_MAX_AGE_DAYS",
    180,
    "From which age on such a database is refused at a start, and by `scrapy plan check`: addresses change hands, and "
    "providers publish twice a week. 0: never.",
    unit="d",
    low=0,
    high=36_500,
)
TRAP_LINKS: Final = Whole(
    "TRAP_LINKS",
    60,
    "How many links of a kind that could be a trap (calendars, facets, ids of sessions, pages to print or sort, or all "
    "that pages with the same text lead to) a plan with `follow` takes of a host: enough to find out whether such "
    "pages say anything new; if they do, it takes more. What is refused fails as `trap-...`, and is tried again by "
    "`scrapy seeds retry` after the plan was submitted with `--replace`, or with a larger number here. 0: traps aren't "
    "looked for.",
    low=0,
    high=1_000_000,
)
CONTACT: Final = Line(
    "CONTACT", "", "A URL or mail address that is added to the User-Agent, so that a site's owner can reach you."
)
FRONTIER_SETTINGS: Final = Options(
    "FRONTIER_SETTINGS",
    {},
    "What a project wants of Scrapy's settings for producer and consumer; what it sets outside is for its own spiders. "
    "Components (pipelines, middlewares, extensions, download handlers) are added to the crawl's, other values replace "
    "them.",
    form="settings for the frontier's spiders",
    secret=True,
)
SITE_SECRET_HOSTS: Final = Bindings(
    "SITE_SECRET_HOSTS",
    {},
    "The only hosts to which each secret of a site is sent: `SITE_SECRET_BOARD=board.example.org,SITE_SECRET_BOARD="
    "api.example.org`. Site files name a secret in `headers` and `cookies`; its value is the variable of that name in "
    "the environment of the workers, or such a file among the credentials. It goes over TLS alone, unless the host is "
    "written with `http://`.",
    pattern=r"(SITE_SECRET_(?!HOSTS=)[A-Z0-9_]{1,50})=((?:https?://)?(?:[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?)",
    form="SITE_SECRET_NAME=HOST",
)
ALLOW_PRIVATE_ADDRESSES: Final = Flag(
    "ALLOW_PRIVATE_ADDRESSES",
    default=False,
    why="Whether 10.x, 127.x, link-local and other addresses inside private networks are crawled. Off, since pages and "
    "plans could otherwise ask for what is behind the firewall.",
)

FRONTIER: Final = Section("The frontier")

KEY_PREFIX: Final = Line(
    "KEY_PREFIX",
    "hr",
    "The beginning of every key in Redis; two crawls in one Redis need different ones.",
    pattern=r"[\w.-]+",
    form="letters, digits, '-', '_' and '.'",
)
FRONTIER_PARTITIONS: Final = Whole(
    "FRONTIER_PARTITIONS",
    1,
    "In how many parts the frontier's keys are split. On a single Redis one is enough, on a Redis Cluster 2 to 4 for "
    "each primary share its work. It is stored in Redis, and can't change while seeds are there.",
    low=1,
    high=4_096,
)
SESSION_SECONDS: Final = Number(
    "SESSION_SECONDS",
    15,
    "After how long a silent worker is taken for dead, and its seeds go to others. A worker that lives renews its "
    "session five times as often.",
    unit="s",
    low=1,
    high=3_600,
)
LOCK_MILLISECONDS: Final = Whole(
    "LOCK_MILLISECONDS",
    2_000,
    "How long at most the lock on claims is held, and so keeps other workers from claiming when its holder dies. A "
    "claim itself takes a small part of that.",
    unit="ms",
    low=50,
    high=60_000,
)
STOP_WHEN_DONE: Final = Flag(
    "STOP_WHEN_DONE",
    default=False,
    why="On: a worker ends when nothing is ready, executing or on its way, instead of waiting for more.",
)
MAX_ATTEMPTS: Final = Whole(
    "MAX_ATTEMPTS",
    4,
    "How many times a seed is tried before it fails. Tries that an outage or a restart ended don't count.",
    low=1,
    high=100,
)
RETRY_BASE_SECONDS: Final = Number(
    "RETRY_BASE_SECONDS",
    15,
    "The wait before a seed's second try. It doubles with each further one, so that four tries outlast a restart of "
    "the seed's host.",
    unit="s",
    low=0,
    high=3_600,
)
RETRY_MAX_SECONDS: Final = Number(
    "RETRY_MAX_SECONDS", 600, "The longest wait before a further try of a seed.", unit="s", low=0, high=86_400
)
SETTLE_BATCH: Final = Whole(
    "SETTLE_BATCH",
    100,
    "The most seeds whose end is told to Redis in one call; a call for each seed costs 14 times more.",
    low=1,
    high=1_000,
)
SETTLE_WAIT_SECONDS: Final = Number(
    "SETTLE_WAIT_SECONDS",
    0.02,
    "How long the end of a seed waits for others, to be told to Redis in the same call.",
    unit="s",
    low=0,
    high=10,
)
EGRESS_DOUBT_SECONDS: Final = Number(
    "EGRESS_DOUBT_SECONDS",
    3_600,
    "When no host answers any worker, for how long the network is taken to be at fault, and tries don't count; after "
    "that the hosts are. 0: the hosts always are.",
    unit="s",
    low=0,
    high=86_400,
)
KNOWN_PAGES: Final = Whole(
    "KNOWN_PAGES",
    64_000,
    "How many pages each worker remembers as known to their plans, exactly, in 16 bytes each: links to them are only "
    "counted, instead of asked for in Redis. More pay where sites have many links to the same pages.",
    low=1_000,
    high=100_000_000,
)
CONFIRM_OFFERS: Final = Flag(
    "CONFIRM_OFFERS",
    default=True,
    why="On, with a Redis Cluster: a page ends only when what it led to is on a replica (without one: on disk), so "
    "that no failure of a node loses it. This costs each page some ms, and pages wait while a replica is away.",
)
FAIL_DAYS: Final = Whole(
    "FAIL_DAYS",
    30,
    "For how long a failed seed is remembered, and refused where a page leads to it again.",
    unit="days",
    low=1,
    high=36_500,
)
FINISHED_TIMES: Final = Flag(
    "FINISHED_TIMES",
    default=False,
    why="Whether Redis keeps when each page was finished, to 256 s, for `scrapy seeds show` and the monitor: 3 bytes "
    "more for each, for ever. An item says itself when it was collected.",
)
DEDUP_MODE: Final = Choice(
    "DEDUP_MODE",
    "exact",
    "How Redis knows which pages are finished: `exact`, in 8 to 9 bytes each, loses none; `bloom` takes less, and up "
    "to DEDUP_ERROR_RATE of new pages are taken for finished and never crawled. A crawl that has begun with `bloom` "
    "stays so. The same on every node: stop all workers before it is changed.",
    choices=("exact", "bloom"),
)
DEDUP_ERROR_RATE: Final = Number(
    "DEDUP_ERROR_RATE",
    1e-5,
    "With `bloom`: the share of new pages that may be taken for finished. At the default it is one page in a hundred "
    "thousand, less than fails for other reasons. When filters err more often by how full they are, what only they "
    "could tell is refused and counted as `over-error-budget`.",
    unit="pages of each page",
    low=1e-9,
    high=0.01,
)

POLITENESS: Final = Section("Politeness")

ADDRESS_CONCURRENCY: Final = Whole(
    "ADDRESS_CONCURRENCY",
    0,
    "The most requests to one IP address at once, over all workers: a site's own delay and concurrency hold for each "
    "host, and many hosts may be on one server. 0: addresses have no limit.",
    low=0,
    high=999,
)
ADDRESS_DELAY_SECONDS: Final = Number(
    "ADDRESS_DELAY_SECONDS",
    0,
    "The shortest time between the starts of two requests to one IP address, over all workers. It counts where "
    "ADDRESS_CONCURRENCY is set.",
    unit="s",
    low=0,
    high=3_600,
)
ROBOTSTXT_OBEY: Final = Flag(
    "ROBOTSTXT_OBEY", default=True, why="Whether robots.txt is heeded, by RFC 9309.", owner="Scrapy"
)
ROBOTSTXT_USER_AGENT: Final = Line(
    "ROBOTSTXT_USER_AGENT",
    "",
    "The name by which robots.txt files address the crawler. Empty: the first word of the User-Agent, which is the "
    "wrong one where that begins like a browser's, with `Mozilla/5.0`.",
    owner="Scrapy",
)
ROBOTS_META_OBEY: Final = Flag(
    "ROBOTS_META_OBEY",
    default=False,
    why="Whether `noindex` and `nofollow` of pages (robots' meta tags, `X-Robots-Tag`) and `rel=nofollow` of links are "
    "heeded, too: see operator.md.",
)
ROBOTS_RETRY_SECONDS: Final = Number(
    "ROBOTS_RETRY_SECONDS",
    60,
    "How long after a robots.txt was unreachable it is asked for again; later tries come after 4 and then 5 times as "
    "long.",
    unit="s",
    low=0,
    high=3_600,
)
ROBOTS_MAX_CRAWL_DELAY_SECONDS: Final = Number(
    "ROBOTS_MAX_CRAWL_DELAY_SECONDS",
    60,
    "The longest Crawl-delay of a robots.txt that is heeded: a longer one counts as this, since no host may hold a "
    "turn for hours.",
    unit="s",
    low=0,
    high=3_600,
)

HEADROOM: Final = Section("Headroom")  # crawler/worker/life/headroom.py has the rule

NODE_MEMORY_LIMIT_PERCENT: Final = Number(
    "NODE_MEMORY_LIMIT_PERCENT",
    90,
    "How full a node's memory, or its container's, may get; 100: no limit. Where memory is short for answers as large "
    "as those of late, fewer pages are asked for at once.",
    unit="%",
    low=1,
    high=100,
)
NODE_CPU_LIMIT_PERCENT: Final = Number(
    "NODE_CPU_LIMIT_PERCENT",
    90,
    "How busy a node's processors may get; 100: no limit. Pages start no faster than that allows.",
    unit="%",
    low=1,
    high=100,
)
NODE_WEIGHT: Final = Number(
    "NODE_WEIGHT",
    1,
    "How many times the hosts a node is to have that its processors and memory stand for, beside other nodes. Its "
    "workers claim those hosts first, then any others, so that they see pages again that they know.",
    low=0.01,
    high=1_000,
)
FIRST_BATCH: Final = Whole(
    "FIRST_BATCH",
    5,
    "The most seeds in a worker's first claim, when it doesn't know yet what they cost.",
    low=1,
    high=1_000,
)
# A claim often fills a single turn, up to the site's `burst`: with 500, a worker of 64 turns came to hold 9,600 seeds.
BATCH_MAX: Final = Whole(
    "BATCH_MAX",
    100,
    "The most seeds in one claim. The more there are, the less each costs Redis, but the more of them wait in the "
    "worker, where each takes 1 kB.",
    low=1,
    high=1_000,
)
CLAIM_AHEAD_SECONDS: Final = Number(
    "CLAIM_AHEAD_SECONDS",
    60,
    "A worker holds at most as many seeds as it finishes in that time, at its measured rate.",
    unit="s",
    low=1,
    high=3_600,
)
IDLE_WAIT_SECONDS: Final = Number(
    "IDLE_WAIT_SECONDS",
    60,
    "How long at most a worker sleeps while no seed is due; a new seed ends the sleep earlier.",
    unit="s",
    low=0.1,
    high=3_600,
)

BROWSERS: Final = Section("Pages that need a browser")  # crawler/render/

BROWSER_PATH: Final = Location(
    "BROWSER_PATH",
    "",
    "The program of Chromium. Empty: the one that PATH has under a usual name, such as `chromium`.",
    form="a file",
)
BROWSER_PAGES_AT_ONCE: Final = Whole(
    "BROWSER_PAGES_AT_ONCE",
    4,
    "The most pages that a worker's browser has open. Each takes 50 to 150 MB, and two keep a processor busy.",
    low=1,
    high=100,
)
BROWSER_PAGE_MAX_BYTES: Final = Whole(
    "BROWSER_PAGE_MAX_BYTES",
    768 * 1024 * 1024,
    "The most memory for the process that a page runs in: one that takes more is ended, and its page counts as "
    "crashed. Heavy applications take 300 MB.",
    unit="bytes",
    low=128 * 1024 * 1024,
    high=MAX_BYTES,
)
BROWSER_RECYCLE_PAGES: Final = Whole(
    "BROWSER_RECYCLE_PAGES",
    500,
    "After how many pages a worker replaces its browser, since browsers leak memory. Each time costs 1.5 s.",
    low=1,
    high=1_000_000,
)
BROWSER_RECYCLE_SECONDS: Final = Number(
    "BROWSER_RECYCLE_SECONDS",
    3_600,
    "After how long a worker replaces its browser, however few pages it has shown.",
    unit="s",
    low=1,
    high=1_000_000,
)
BROWSER_RECYCLE_BYTES: Final = Whole(
    "BROWSER_RECYCLE_BYTES",
    2 * 1024 * 1024 * 1024,
    "How much memory the processes of a browser may take together before a worker replaces it. What they share counts "
    "once.",
    unit="bytes",
    low=512 * 1024 * 1024,
    high=MAX_BYTES,
)
RENDER_LOOK_AGAIN_SECONDS: Final = Number(
    "RENDER_LOOK_AGAIN_SECONDS",
    600,
    "How often a worker looks again whether a site's pages need the browser, where the site's file leaves that to the "
    "crawl (`when: auto`): it then treats one page against what was found so far. A page rendered in vain takes a "
    "second.",
    unit="s",
    low=1,
    high=1_000_000,
)

BROWSER_EVIDENCE_DIR: Final = Location(
    "BROWSER_EVIDENCE_DIR",
    "",
    "The folder for pictures of pages on which a step of their site's file failed: the latest of each step, "
    "`SITE-content-STEP.step.jpg` or `SITE-results-STEP.step.jpg`, 200 at most. Empty: none is kept.",
)

DELIVERY: Final = Section("Delivery")

ITEM_SINKS: Final = Words(
    "ITEM_SINKS",
    ("files",),
    "The names of the sinks that items go to; whatever the order here, they go there in that of SINKS. A seed is "
    "finished when all of them have acknowledged its items.",
    each="names of sinks",
)
SINKS: Final = Options(
    "SINKS",
    {
        "files": "crawler.pipelines.files.FilesSink",
        "mongo": "crawler.pipelines.mongo.MongoSink",
        "kafka": "crawler.pipelines.kafka.KafkaSink",
    },
    "The classes of sinks by their names, to add your own. Those of the default that it doesn't name stay, and come "
    "first.",
    form="names of sinks with the paths of their classes",
)
ITEMS_DIR: Final = Location("ITEMS_DIR", "items", "The folder into which the sink `files` writes JSON lines.")
FILES_FSYNC: Final = Flag(
    "FILES_FSYNC",
    default=False,
    why="On: what the sink `files` has acknowledged survives a power cut, too, rather than a kill alone. This costs "
    "each batch some 5 ms.",
)
TOPIC_PREFIX: Final = Line(
    "TOPIC_PREFIX",
    "items.",
    "The beginning of a Kafka topic's name, which the site's name follows. Kafka takes 249 characters for both.",
    pattern=r"[a-zA-Z0-9._-]{1,100}",
    form="1 to 100 of a-z A-Z 0-9 . _ -",
)
NEWEST_ITEMS_MEGABYTES: Final = Number(
    "NEWEST_ITEMS_MEGABYTES",
    4,
    "How much memory of Redis holds the newest items of each site, 200 at most, which the monitor shows where `mongo` "
    "isn't among the sinks. When it is full, the site that takes most loses its oldest. 0: none are kept.",
    unit="MB",
    low=0,
    high=1_000,
)
FAILED_ANSWERS_MEGABYTES: Final = Number(
    "FAILED_ANSWERS_MEGABYTES",
    4,
    "How much memory of Redis holds what hosts answered where pages failed: the head and 2,000 characters of the "
    "latest 20 answers of each site and reason, which the monitor shows as text. 0: none are kept.",
    unit="MB",
    low=0,
    high=1_000,
)
STATS_HOURS: Final = Whole(
    "STATS_HOURS",
    168,
    "For how many hours it is kept what came back in each, by status, host, plan and node, as `scrapy stats --hour` "
    "and the monitor show it. A busy hour takes some 25 kB of Redis: a week, so that a day can be held against the "
    "same one of the week before, 4 MB. 0: nothing is kept.",
    unit="h",
    low=0,
    high=8_784,
)
SINK_BATCH: Final = Whole("SINK_BATCH", 100, "The most items in one write to a sink.", low=1, high=10_000)
SINK_WAIT_SECONDS: Final = Number(
    "SINK_WAIT_SECONDS", 0.05, "How long a sink waits for a batch to fill.", unit="s", low=0, high=10
)
SINK_RETRY_MAX_SECONDS: Final = Number(
    "SINK_RETRY_MAX_SECONDS",
    10,
    "The longest pause between two tries of a sink that can't be reached.",
    unit="s",
    low=0.01,
    high=600,
)
FILES_STORE: Final = Location(
    "FILES_STORE",
    "media",
    "Where the files of images and videos are stored. Empty: items name them, and no file is fetched.",
    form="a folder, or an s3://, gs:// or ftp:// address",
)
MEDIA_MAX_PER_PAGE: Final = Whole(
    "MEDIA_MAX_PER_PAGE",
    50,
    "The most images and videos that are fetched for one page, so that an endless gallery ends.",
    low=0,
    high=10_000,
)
MEDIA_ALLOW_REDIRECTS: Final = Flag(
    "MEDIA_ALLOW_REDIRECTS",
    default=True,
    why="Whether redirects of images and videos are followed.",
    owner="Scrapy",
)

DOWNLOAD: Final = Section("Downloads and their engine")

USER_AGENT: Final = Line(
    "USER_AGENT",
    f"headroom/{__version__}",
    "The name under which hosts are asked; CONTACT is added to it.",
    owner="Scrapy",
)
PAGE_SECONDS: Final = Number(
    "PAGE_SECONDS",
    300,
    "How long all that one page fetches may take, with the delays between the requests; 50 images at a delay of 5 s "
    "just fit. Images that are missing then are left out; until then each is tried up to three times. Further pages "
    "that are missing have the page tried again, as `page-timeout`; at the last try the item's `missing_pages` names "
    "them.",
    unit="s",
    low=1,
    high=86_400,
)
FAST_ENGINE: Final = Flag(
    "FAST_ENGINE",
    default=True,
    why="One asyncio task for each request, and less work for signals, statistics and log lines. Off, or with a Scrapy "
    "that it wasn't tested with: Scrapy's own engine, with which a page takes half as much CPU time again. "
    "A project's own spiders have Scrapy's unless this is set to 1.",
)
CONCURRENT_REQUESTS: Final = Whole(
    "CONCURRENT_REQUESTS",
    64,
    "The most requests that one worker has under way. How many of them one host gets is up to the host's turns.",
    low=1,
    high=10_000,
    owner="Scrapy",
)
CONCURRENT_ITEMS: Final = Whole(
    "CONCURRENT_ITEMS",
    8,
    "The most items of one page that are in the pipelines at once. Scrapy's own engine starts as many tasks for each "
    "page.",
    low=1,
    high=10_000,
    owner="Scrapy",
)
DOWNLOAD_TIMEOUT: Final = Number(
    "DOWNLOAD_TIMEOUT",
    60,
    "How long one answer may take, from the request to its last byte.",
    unit="s",
    low=0.1,
    high=3_600,
    owner="Scrapy",
)
DOWNLOAD_MAXSIZE: Final = Whole(
    "DOWNLOAD_MAXSIZE",
    32 * 1024 * 1024,
    "The most bytes of one answer, both as it comes and decoded: Scrapy's 1 GiB would let a host kill a worker. A "
    "sitemap may have 50 MiB, as its format allows. 0: there is no limit.",
    unit="bytes",
    low=0,
    high=MAX_BYTES,
    owner="Scrapy",
)
DOWNLOAD_WARNSIZE: Final = Whole(
    "DOWNLOAD_WARNSIZE",
    16 * 1024 * 1024,
    "From how many bytes on an answer is logged as large. 0: none is.",
    unit="bytes",
    low=0,
    high=MAX_BYTES,
    owner="Scrapy",
)
DOWNLOAD_FAIL_ON_DATALOSS: Final = Flag(
    "DOWNLOAD_FAIL_ON_DATALOSS",
    default=True,
    why="Whether an answer that ends too early fails its page.",
    owner="Scrapy",
)
DOWNLOAD_VERIFY_CERTIFICATES: Final = Flag(
    "DOWNLOAD_VERIFY_CERTIFICATES",
    default=True,
    why="Whether a host must prove by its certificate that it is who it says.",
    owner="Scrapy",
)
REDIRECT_MAX_TIMES: Final = Whole(
    "REDIRECT_MAX_TIMES",
    5,
    "The most redirects in a row that a request follows on its host.",
    low=0,
    high=100,
    owner="Scrapy",
)

WATCH: Final = Section("Health, metrics and logs")

HEARTBEAT_FILE: Final = Location(
    "HEARTBEAT_FILE",
    "",
    "A file for the health checks of containers, which a worker writes every second or so and removes at its end. One "
    "older than two minutes is that of a worker that is dead or frozen, whether or not it had work. It says `ready` "
    "while the worker's session is alive, else `waits`. Each worker needs its own. Empty: none is written.",
    form="a file",
)
METRICS_TOKEN: Final = Line(
    "METRICS_TOKEN",
    "",
    "The bearer token with which the metrics may be read (docs/metrics.md). Empty: nobody may.",
    pattern=r"(?:[\x21-\x7e]{16,})?",
    form="16 visible ASCII characters or more, without blanks",
    secret=True,
)
METRICS_PORT: Final = Whole(
    "METRICS_PORT",
    0,
    "The port at which a worker serves its own metrics to whoever has METRICS_TOKEN; each worker of a node needs "
    "another. 0: it serves none.",
    low=0,
    high=65_535,
)
METRICS_HOST: Final = Line(
    "METRICS_HOST",
    "127.0.0.1",
    "The address at which METRICS_PORT is open. What passes there isn't encrypted, so any address but this machine's "
    "own belongs into a private network.",
)
MONITOR_USERS: Final = Location(
    "MONITOR_USERS",
    "monitor-users.json",
    "The file of those who may use the monitor (docs/monitor.md); `scrapy monitor user add` writes it.",
    form="a file",
)
LOG_JSON: Final = Flag(
    "LOG_JSON",
    default=False,
    why="On: each record of the log is a line of JSON, with its event (docs/log-events.md), whatever LOG_FORMAT says.",
)
LOG_LEVEL: Final = Line(
    "LOG_LEVEL",
    "INFO",
    "The least level of records that are logged. At DEBUG, Scrapy's default, each page has lines of its own.",
    pattern="CRITICAL|ERROR|WARN(ING)?|INFO|DEBUG|NOTSET|[0-9]+",
    form="CRITICAL, ERROR, WARNING, INFO or DEBUG",
    owner="Scrapy",
)

# The whole table, in the order of the reference.
TABLE: tuple[Section | Setting[Any], ...] = tuple(
    entry for entry in globals().values() if isinstance(entry, Section | Setting)
)
ALL: tuple[Setting[Any], ...] = tuple(entry for entry in TABLE if isinstance(entry, Setting))
BY_NAME: Mapping[str, Setting[Any]] = {entry.name: entry for entry in ALL}
