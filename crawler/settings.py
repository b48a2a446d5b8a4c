"""Every setting, once: its value, its unit, and why.

Any of them can be changed with `-s NAME=VALUE`; the first five under "Servers" also from the environment, which is
where secrets belong. What isn't here keeps Scrapy's default.
"""

import os

from crawler import __version__

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
BOT_NAME = "headroom"
SPIDER_MODULES = ["crawler.spiders"]
NEWSPIDER_MODULE = "crawler.spiders"
COMMANDS_MODULE = "crawler.commands"
FAST_ENGINE = True  # False: Scrapy's own engine and what belongs to it; a page takes half as much CPU time again
ADDONS = {"crawler.fast.addon.FastEngine": 1000}  # last: other add-ons may replace Scrapy's downloader statistics
EXTENSIONS = {
    "crawler.logs.InertLogs": 0,  # first: what other extensions log is inert, too
    "crawler.worker.worker.Worker": 100,
    "crawler.worker.delivery.Delivery": 200,
    "scrapy.extensions.telnet.TelnetConsole": None,
    "scrapy.extensions.remote_control.RemoteControl": None,
}
SPIDER_MIDDLEWARES = {
    # Next to the engine, whatever numbers others have: it counts what is left when they have dropped and added.
    "crawler.middlewares.visits.VisitSpiderMiddleware": -1_000_000,
    # Each costs every page a pass. HTTPERROR_ALLOW_ALL and URLLENGTH_LIMIT = 0 leave the first two nothing to do.
    "scrapy.spidermiddlewares.httperror.HttpErrorMiddleware": None,
    "scrapy.spidermiddlewares.urllength.UrlLengthMiddleware": None,
}
DOWNLOADER_MIDDLEWARES = {
    "crawler.middlewares.known_site.KnownSiteMiddleware": 40,
    "crawler.middlewares.scope.ScopeMiddleware": 50,
    "crawler.middlewares.ended_search.EndedSearchMiddleware": 60,
    "crawler.middlewares.robots.RobotsMiddleware": 100,
    "crawler.middlewares.decoding.DecodingMiddleware": 590,
    "crawler.middlewares.redirect.RedirectMiddleware": 600,
    "crawler.middlewares.turns.TurnMiddleware": 990,  # the last before the wire: what it lets through is sent
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,  # reads an error page as rules
    "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": None,  # no bound on codings
    "scrapy.downloadermiddlewares.redirect.RedirectMiddleware": None,  # follows to other hosts without their turn
    "scrapy.downloadermiddlewares.redirect.MetaRefreshMiddleware": None,
    "scrapy.downloadermiddlewares.retry.RetryMiddleware": None,  # retries go through the frontier, with its turns
    "scrapy.downloadermiddlewares.offsite.OffsiteMiddleware": None,
}
ITEM_PIPELINES = {
    "crawler.pipelines.clean.CleanPipeline": 100,
    "crawler.pipelines.media.PageMediaPipeline": 200,
    "crawler.pipelines.sink.SinkPipeline": 800,
}

# -- Scrapy's own, changed ------------------------------------------------------------------------------------------
USER_AGENT = f"headroom/{__version__}"  # CONTACT is added to it
ROBOTSTXT_OBEY = True
CONCURRENT_REQUESTS = 64  # of each worker; what one host gets is up to its turns
CONCURRENT_REQUESTS_PER_DOMAIN = 64  # must not bind: turns pace each host
DOWNLOAD_DELAY = 0  # must not bind: turns pace each host
CONCURRENT_ITEMS = 8  # of one page. Scrapy's own engine starts so many tasks per page; its default is 100
DOWNLOAD_TIMEOUT = 60  # seconds for one answer, first to last byte
PAGE_SECONDS = 300  # for all that a page fetches, its own delays included: 50 images at 5 s. A tarpit ends here
DOWNLOAD_MAXSIZE = 32 * 1024 * 1024  # bytes; Scrapy's 1 GiB is a way to kill a worker
DOWNLOAD_WARNSIZE = 16 * 1024 * 1024
DOWNLOAD_VERIFY_CERTIFICATES = True
DOWNLOAD_HANDLERS = {
    "http": "crawler.download.handler.CurlDownloadHandler",
    "https": "crawler.download.handler.CurlDownloadHandler",
    "file": None,  # only the web is crawled
    "ftp": None,
    "s3": None,
    "data": None,
}
REDIRECT_MAX_TIMES = 5
COOKIES_ENABLED = False  # pages are read as a stranger would
HTTPERROR_ALLOW_ALL = True  # a visit's end tells the ledger why; nothing is dropped on the way
WARN_ON_GENERATOR_RETURN_VALUE = False  # reads the callback's source
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False
URLLENGTH_LIMIT = 0  # urls.py has the limit
LOG_LEVEL = "INFO"
STATS_DUMP = True
