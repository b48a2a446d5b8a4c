"""Every setting, once: its value, its unit, and why.

Any of them can be changed with `-s NAME=VALUE`; the first five under "Servers" also from the environment, which is
where secrets belong. What isn't here keeps Scrapy's default.
"""

import os

# -- Servers --------------------------------------------------------------------------------------------------------
REDIS_URL = os.environ.get("REDIS_URL", "redis://127.0.0.1:6379/0")
REDIS_CLUSTER = os.environ.get("REDIS_CLUSTER", "0")  # 1: REDIS_URL names nodes of a Redis Cluster, commas part several
KAFKA_BOOTSTRAP_SERVERS = os.environ.get("KAFKA_BOOTSTRAP_SERVERS", "127.0.0.1:9092")
MONGO_URL = os.environ.get("MONGO_URL", "mongodb://127.0.0.1:27017")
MONGO_DATABASE = os.environ.get("MONGO_DATABASE", "headroom")
CONNECT_SECONDS = 30  # how long a process looks for Redis at start before it gives up with exit status 1

# -- What is crawled ------------------------------------------------------------------------------------------------
SITES_DIR = ""  # folder with an analyst's own site files; they go before the built-in ones
PARSER_MODULES: list[str] = []  # modules that a site's `parser: module:function` may name; none: nothing is imported
PLAN_MAX_SEEDS = 100_000  # nav seeds in one plan; more is nearly always a mistake in `choose` or `pages`
START_LISTS: dict[
    str, dict[str, str | list[str]]
] = {}  # lists of URLs in Redis to crawl; see docs/from-scrapy-redis.md
MAX_LINKS_PER_PAGE = 1_000  # results of a search page, or followed links; more is a trap, or a plan's `per_page`
CONTACT = ""  # a URL or mail address for the User-Agent, so that a site's owner can reach you

# -- The frontier ---------------------------------------------------------------------------------------------------
KEY_PREFIX = "hr"  # of every Redis key; two clusters in one Redis need two
FRONTIER_PARTITIONS = 1  # Redis Cluster: 2 to 4 per primary; stored in Redis, can't change while seeds are there
SESSION_SECONDS = 15  # a worker silent for so long is taken for dead; its seeds go to others
LOCK_MILLISECONDS = 2_000  # a claimant that died holding the lock keeps others off so long; a claim takes under 10 ms
STOP_WHEN_DONE = False  # True: end when nothing is ready, executing or on its way, instead of waiting for more
MAX_ATTEMPTS = 4  # real tries of a seed before it fails; outages and restarts don't count
RETRY_BASE_SECONDS = 15  # wait before the second try; doubles each time: four tries outlast a restart of their host
RETRY_MAX_SECONDS = 600
SETTLE_BATCH = 100  # seeds in one settle call; one call a page costs 14 times more
SETTLE_WAIT_SECONDS = 0.02  # how long a settle waits for company
EGRESS_DOUBT_SECONDS = 3_600  # when nobody answers any worker: so long the network may be at fault, then the hosts are
PAGE_SECONDS = 300  # for all that a page fetches, its own delays included: 50 images at 5 s. A tarpit ends here
CONFIRM_OFFERS = True  # Redis Cluster: a page ends when what it led to survives a node; costs a page some ms
FAIL_DAYS = 30  # failed seeds are remembered, and refused, for so long

# -- Politeness -----------------------------------------------------------------------------------------------------
# A site's own delay and concurrency hold for each host, these for each address: many hosts may be on one server.
ADDRESS_CONCURRENCY = 0  # requests to one address at once, over all workers; 0: no budget for addresses
ADDRESS_DELAY_SECONDS = 0  # between two starts at one address, over all workers; only with ADDRESS_CONCURRENCY

# -- robots.txt -----------------------------------------------------------------------------------------------------
ROBOTS_RETRY_SECONDS = 60  # an unreachable file is asked for again after that, then after 4 and 5 times as long
ROBOTS_MAX_CRAWL_DELAY_SECONDS = 60  # a longer Crawl-delay counts as this: a host must not hold a turn for hours

# -- Headroom (crawler/worker/headroom.py has the rule) -------------------------------------------------------------
NODE_MEMORY_LIMIT_PERCENT = 90  # ML
NODE_CPU_LIMIT_PERCENT = 90  # CL
FIRST_BATCH = 5  # n: seeds in the first claim, while a seed's cost is unknown
BATCH_MAX = 500  # seeds in one claim, which then takes Redis less than 10 ms; at most 1,000
IDLE_WAIT_SECONDS = 60  # longest sleep while no seed is due; an offer ends it earlier
CLAIM_AHEAD_SECONDS = 60  # never hold more than this worker finishes in that time at its measured rate

# -- Delivery -------------------------------------------------------------------------------------------------------
SINKS = {  # a sink's name -> its class; an item goes to the chosen ones in this order
    "files": "crawler.pipelines.files.FilesSink",
    "mongo": "crawler.pipelines.mongo.MongoSink",
    "kafka": "crawler.pipelines.kafka.KafkaSink",
}
ITEM_SINKS = ["files"]  # names in SINKS; a seed is finished when all of them have acknowledged its items
ITEMS_DIR = "items"  # JSON-lines files of the files sink
FILES_FSYNC = False  # True: survive a power cut, not just a kill, at some 5 ms a batch
TOPIC_PREFIX = "items."  # a site's Kafka topic is this and its name
SINK_BATCH = 100  # items in one write to a sink
SINK_WAIT_SECONDS = 0.05  # how long a sink waits for a batch to fill
SINK_RETRY_MAX_SECONDS = 10  # longest pause between two tries of an unreachable sink
FILES_STORE = "media"  # folder or s3://, gs://, ftp:// address of Scrapy's media store
MEDIA_MAX_PER_PAGE = 50  # a gallery trap ends here
MEDIA_ALLOW_REDIRECTS = True

# -- Security -------------------------------------------------------------------------------------------------------
ALLOW_PRIVATE_ADDRESSES = False  # True: crawl 10.x, 127.x, link-local ... (the demo's forum does)

# -- The project, for Scrapy ----------------------------------------------------------------------------------------
# What the frontier's spiders run with has `crawler/crawl_settings.py`. Any other spider has Scrapy's defaults, and what
# follows: the words of the template of `scrapy startproject`.
FRONTIER_SETTINGS: dict[str, object] = {}  # of the project's choice, for the frontier's spiders
BOT_NAME = "headroom"
SPIDER_MODULES = ["crawler.spiders"]
NEWSPIDER_MODULE = "crawler.spiders"
COMMANDS_MODULE = "crawler.commands"
DOWNLOADER_MIDDLEWARES = {"crawler.middlewares.private_addresses.PrivateAddressMiddleware": 1_000_000}
ROBOTSTXT_OBEY = True
CONCURRENT_REQUESTS_PER_DOMAIN = 1
DOWNLOAD_DELAY = 1
FEED_EXPORT_ENCODING = "utf-8"
