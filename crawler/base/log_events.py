"""The events that the log tells of: each with its name, the template of its message, and names for what fills it in.

Who writes JSON (`crawler/config/logs.py:JsonLines`) adds the name and the fields; docs/log-events.md lists them.
"""

from __future__ import annotations

from typing import Protocol, Self


class LogEvent(str):
    """A template to log by, which knows what event it stands for.

    Attributes:
        name: As it stands in `event`; it doesn't change when the words of the message do.
        fields: Names of what fills the message in, in that order.
    """

    __slots__ = ("fields", "name")
    name: str
    fields: tuple[str, ...]

    def __new__(cls, name: str, template: str, *fields: str) -> Self:
        """Makes an event of what its attributes are."""
        event = super().__new__(cls, template)
        event.name, event.fields = name, fields
        return event

    def after_others(self, left_out: int) -> LogEvent:
        """Returns the event with a message that says how many equal ones were left out before it."""
        more = f" (and {left_out:,} times more since it was last said)"
        return LogEvent(self.name, self + more, *self.fields)


class EventLogger(Protocol):
    """A `logging.Logger` for modules all of whose records have events."""

    def debug(self, message: str, /, *values: object) -> None:
        """Logs what only developers read, which needs no event."""

    def info(self, event: LogEvent, /, *values: object) -> None:
        """Logs what an operator may want to know."""

    def warning(self, event: LogEvent, /, *values: object) -> None:
        """Logs what an operator should know."""

    def error(self, event: LogEvent, /, *values: object, exc_info: BaseException | None = None) -> None:
        """Logs what went wrong."""

    def exception(self, event: LogEvent, /, *values: object) -> None:
        """Logs what went wrong, with the traceback of the error that is being handled."""

    def critical(self, event: LogEvent, /, *values: object, exc_info: BaseException | None = None) -> None:
        """Logs what ends a process or a thread."""


# The worker.
WORKER_STARTED = LogEvent("worker-started", "worker %s on frontier %s", "worker", "frontier")
SINKS_CHOSEN = LogEvent("sinks-chosen", "items go to %s; images and videos to %s", "sinks", "media")
WORKER_STOPPING = LogEvent("worker-stopping", "stopping: %d seeds released", "seeds")
WORKER_FORCED = LogEvent(
    "worker-forced", "stopped by force: other workers claim this worker's seeds when its session lapses"
)
WORKER_FAILED = LogEvent("worker-failed", "this worker ends: %s", "error")
WORKER_TASK_DIED = LogEvent("worker-task-died", "this worker ends, since its task %r died", "task")
THREAD_DIED = LogEvent("thread-died", "thread %r has died", "thread")
SESSION_THREAD_ERROR = LogEvent("session-thread-error", "session thread")
START_FAILED = LogEvent("start-failed", "the spider couldn't start")
CRAWL_FAILED = LogEvent("crawl-failed", "the crawl failed")
LOAD_UNKNOWN = LogEvent("load-unknown", "the load can't be measured: %s", "error")
MEMORY_SHORT = LogEvent("memory-short", "no memory left to read %s", "seed")
HEARTBEAT_FAILED = LogEvent(
    "heartbeat-failed", "HEARTBEAT_FILE can't be written, so this worker will look dead: %s", "error"
)
SERVICE_MANAGER_AWAY = LogEvent(
    "service-manager-away", "%s can't be told, so this worker will look dead: %s", "variable", "error"
)
METRICS_SERVED = LogEvent("metrics-served", "metrics are served at %s port %d", "address", "port")
METRICS_NOT_SERVED = LogEvent(
    "metrics-not-served", "metrics can't be served at %s port %d: %s", "address", "port", "error"
)
METRICS_UNREADABLE = LogEvent("metrics-unreadable", "the metrics can't be read: %s", "error")
SETTINGS_SET_ASIDE = LogEvent(
    "settings-set-aside",
    "the crawl has its own %s (FRONTIER_SETTINGS sets them); the project's are for its own spiders",
    "settings",
)
FOREIGN_HANDLER = LogEvent(
    "foreign-handler", "%s downloads %s here; this is given up: %s", "handler", "scheme", "given_up"
)
FAST_ENGINE_WITHOUT_ASYNCIO = LogEvent(
    "fast-engine-without-asyncio",
    "FAST_ENGINE: it needs asyncio, which TWISTED_REACTOR isn't; Scrapy's own engine runs",
)
FAST_ENGINE_OFF = LogEvent(
    "fast-engine-off",
    "FAST_ENGINE: not tested with Scrapy %s, only with %sx; Scrapy's own engine runs",
    "scrapy",
    "tested",
)
FAST_ENGINE_MISSING = LogEvent(
    "fast-engine-missing", "FAST_ENGINE: Scrapy has no %s any more; Scrapy's own engine runs", "names"
)

# Claims and sessions.
CLAIMS_STOPPED = LogEvent("claims-stopped", "nothing is claimed: %s", "why")
CLAIMS_RESUMED = LogEvent("claims-resumed", "claims go on")
CLAIMS_WAITING = LogEvent("claims-waiting", "claims: waiting for Redis: %s", "error")
CLAIMS_ERROR = LogEvent("claims-error", "claims go on after an error")
SESSION_LOST = LogEvent("session-lost", "session of %s was lost; its seeds go to others", "owner")
SESSION_NOT_RENEWED = LogEvent("session-not-renewed", "session not renewed in partition %d: %s", "partition", "error")
SESSIONS_NOT_RENEWED = LogEvent(
    "sessions-not-renewed", "session not renewed in %d of %d partitions: %s", "partitions", "of_partitions", "error"
)
RENEWAL_SUBSCRIBER_FAILED = LogEvent(
    "renewal-subscriber-failed", "session renewed, but a subscriber to its renewals failed: %s", "error"
)
FORMAT_UNREAD = LogEvent("format-unread", "format of the frontier not read: %s", "error")
SESSION_EXPIRED = LogEvent(
    "session-expired", "no session in partition %d: %d pages are not fetched", "partition", "pages"
)
SEEDS_RECALLED = LogEvent(
    "seeds-recalled", "Redis had forgotten how %d seeds of this worker ended; they are ready again", "seeds"
)
SETTLEMENTS_WAITING = LogEvent("settlements-waiting", "%d settlements: waiting for Redis: %s", "settlements", "error")
SETTLEMENTS_REFUSED = LogEvent(
    "settlements-refused", "%d settlements were refused: other workers have those seeds now", "settlements"
)
OFFERS_WAITING = LogEvent("offers-waiting", "%d offers: waiting for Redis: %s", "offers", "error")
OFFERS_ONE_BY_ONE = LogEvent("offers-one-by-one", "%d offers are sent page by page: %s", "offers", "error")

# Redis.
REDIS_AWAY_AT_END = LogEvent(
    "redis-away-at-end", "Redis is away: other workers claim this worker's seeds when its session lapses"
)
REDIS_FULL = LogEvent("redis-full", "Redis is full: claims and offers wait until there is room; %s", "remedy")
REDIS_HAS_ROOM = LogEvent("redis-has-room", "Redis has room again: claims and offers go on")
REDIS_WAITING = LogEvent("redis-waiting", "%s: waiting for Redis: %s", "what", "error")
REDIS_MAP_UNREAD = LogEvent("redis-map-unread", "Redis Cluster: the map of its slots can't be read: %s", "error")

# What operators do.
NODE_DRAINED = LogEvent("node-drained", "an operator has drained this node")
NODE_RESUMED = LogEvent("node-resumed", "this node isn't drained any more")
NODE_LIMITS = LogEvent(
    "node-limits",
    "this node's limits are now %g %% of memory, %g %% of CPU and %d seeds in the first claim",
    "memory_percent",
    "cpu_percent",
    "first_batch",
)
NODE_STOPPED = LogEvent("node-stopped", "an operator stops this node's workers")
ORDERS_DAMAGED = LogEvent(
    "orders-damaged", "the orders for node %s in Redis are damaged, so nothing changes: %s", "node", "error"
)

# Hosts and pages.
PAGES_FAILED = LogEvent(
    "pages-failed", "%s: %s in %.0f s (%s), such as %s%s", "host", "failures", "seconds", "reasons", "seed", "why"
)
EGRESS_DOWN = LogEvent(
    "egress-down", "no host answers this worker, the last was %s: it claims one seed at a time", "host"
)
EGRESS_UP = LogEvent("egress-up", "hosts answer this worker again, after %.0f s: it claims seeds as before", "seconds")
PROXY_REFUSES = LogEvent(
    "proxy-refuses",
    "a request to %s was refused with %d by way of this node's proxy, maybe by that: its pages wait for another node",
    "host",
    "status",
)
TLS_DOUBTED = LogEvent(
    "tls-doubted",
    "no TLS with %s, maybe by this node's clock or its file of authorities: the host's pages wait for another node",
    "host",
)
ROBOTS_ERROR = LogEvent("robots-error", "can't ask for %s", "url")
MEDIA_ERROR = LogEvent("media-error", "can't fetch %s", "url")
SEARCH_BROKEN_OFF = LogEvent("search-broken-off", "search for %s: no further page: %s", "words", "error")
BROWSER_ENDED = LogEvent(
    "browser-ended", "A page can't be closed: its browser is ended, and its other pages are rendered again"
)
BROWSER_PAGE_ENDED = LogEvent("browser-page-ended", "A page's process is ended: it takes %d MB", "megabytes")
EVIDENCE_NOT_KEPT = LogEvent("evidence-not-kept", "No picture of a failed step is kept in %s: %s", "folder", "why")

# Sites, plans and start lists.
SITE_DAMAGED = LogEvent("site-damaged", "%s; the earlier definition stays in use", "error")
SITE_UNKNOWN = LogEvent("site-unknown", "%s; its pages are tried again later", "error")
PLAN_DAMAGED = LogEvent("plan-damaged", "%s; what it said before stays in use", "error")
PLAN_UNKNOWN = LogEvent("plan-unknown", "%s; its searches wait", "error")
PLAN_LACKS = LogEvent(
    "plan-lacks", "plan %s can't be crawled by this worker: %s; its pages wait for one that can", "plan", "error"
)
LINK_SCORER_FAILED = LogEvent(
    "link-scorer-failed",
    "links of plan %s have its priority, since its scorer gave no number from 0 to 9 and text for each: %r",
    "plan",
    "error",
)
URL_FILTER_FAILED = LogEvent(
    "url-filter-failed", "filter %s refuses %s, since it raised an error: %r", "filter", "url", "error"
)
REGION_DB_KEPT = LogEvent("region-db-kept", "%s; what was opened before stays in use", "error")
REGION_DB_OPENED = LogEvent("region-db-opened", "%s has changed, and was opened anew", "file")
SITE_SECRET_MISSING = LogEvent("site-secret-missing", "%s; its pages wait", "error")
PLANS_NOT_TOLD = LogEvent("plans-not-told", "plans can't be told of %s", "seed")
START_ENTRIES_REFUSED = LogEvent(
    "start-entries-refused",
    "start list %s: %d entries are refused, one of them for this: %s; the hash %s has them",
    "key",
    "entries",
    "error",
    "refused_key",
)
START_LIST_UNREAD = LogEvent("start-list-unread", "start list %s isn't read: %s", "key", "error")
START_LIST_READ = LogEvent("start-list-read", "start list %s is read again", "key")

# Sinks and media.
SINK_DOWN = LogEvent("sink-down", "%s: down, its items wait: %s", "sink", "error")
SINK_LEFT_TO_OTHERS = LogEvent(
    "sink-left-to-others",
    "%s: down for %.0f s: its pages are handed back, for other nodes to deliver",
    "sink",
    "seconds",
)
SINK_UP = LogEvent("sink-up", "%s: up again", "sink")
SINK_BATCH_ERROR = LogEvent("sink-batch-error", "%s: can't deliver a batch", "sink")
SINK_SEND_ERROR = LogEvent("sink-send-error", "%s: can't send a batch", "sink")
SINK_ANSWER_WRONG = LogEvent(
    "sink-answer-wrong", "%s: answers with %s, not with its refusals by position", "sink", "answer"
)
SINK_ITEM_ERROR = LogEvent("sink-item-error", "%s: can't deliver an item", "sink")
ITEM_REFUSED = LogEvent("item-refused", "%s: refuses an item for good, and takes others: %s", "sink", "reason")
FILES_NONE = LogEvent("files-none", "files: no file for %s in %s: %s", "name", "folder", "error")
KAFKA_TOPIC_MADE = LogEvent("kafka-topic-made", "kafka: made topic %s", "topic")
KAFKA_TOPIC_NOT_OURS = LogEvent("kafka-topic-not-ours", "kafka: topic %s is not ours to make: %s", "topic", "error")
KAFKA_REFUSES = LogEvent("kafka-refuses", "kafka: refuses messages: %s", "error")
MONGO_NO_INDEX = LogEvent("mongo-no-index", "mongo: no index on %s: %s", "fields", "error")
MONGO_REFUSES_SOME = LogEvent(
    "mongo-refuses-some", "mongo: refuses %d of %d documents: %s", "documents", "of_documents", "error"
)
MONGO_REFUSES_BATCH = LogEvent("mongo-refuses-batch", "mongo: refuses a batch of %d: %s", "documents", "error")
MEDIA_STORE_DOWN = LogEvent("media-store-down", "the media store takes nothing: %s", "error")

# The monitor.
MONITOR_ACTION = LogEvent("monitor-action", "audit: %s %s %s: %s", "user", "action", "target", "outcome")
MONITOR_SIGN_IN = LogEvent("monitor-sign-in", "audit: %s sign-in from %s: done", "user", "address")
MONITOR_SIGN_IN_REFUSED = LogEvent("monitor-sign-in-refused", "audit: %s sign-in from %s: refused", "user", "address")
MONITOR_SIGN_IN_LIMITED = LogEvent(
    "monitor-sign-in-limited", "audit: %s sign-in from %s: too many failures", "user", "address"
)
MONITOR_ACTION_DIED = LogEvent("monitor-action-died", "an action of the monitor, %s, has died", "task")
MONITOR_CANNOT_ACCEPT = LogEvent("monitor-cannot-accept", "the monitor can't take a connection: %s", "error")
MONITOR_DIED = LogEvent("monitor-died", "The monitor ends: its %s has died", "task")

EVENTS = tuple(value for value in list(globals().values()) if isinstance(value, LogEvent))
# `crawler.fast`, which knows nothing of the project, logs these by their texts.
_OF_FAST = {str(event): event for event in (FAST_ENGINE_WITHOUT_ASYNCIO, FAST_ENGINE_OFF, FAST_ENGINE_MISSING)}


def event_of(message: object) -> LogEvent | None:
    """Returns the event that a record's `msg` stands for; None: it has no name."""
    if isinstance(message, LogEvent):
        return message
    return _OF_FAST.get(message) if isinstance(message, str) else None
