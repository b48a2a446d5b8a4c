"""The events that the log tells of: a name for each, and names for what its message fills in.

A record of the log is known by its template. Who writes JSON (`crawler/config/logs.py:JsonLines`) adds the name and
fields of its event; docs/log-events.md lists them, and a test holds both against the code.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

LEFT_OUT = re.compile(r" \(and [\d,]+ times more since it was last said\)$")  # what crawler/base/seldom.py adds


@dataclass(frozen=True, slots=True)
class LogEvent:
    """One event.

    Attributes:
        name: As it stands in `event`; it doesn't change when the words of the message do.
        fields: Names of what fills the message in, in that order.
    """

    name: str
    fields: tuple[str, ...] = ()


def _event(name: str, *fields: str) -> LogEvent:
    return LogEvent(name, fields)


EVENTS: Mapping[str, LogEvent] = {
    # The worker.
    "worker %s on frontier %s": _event("worker-started", "worker", "frontier"),
    "items go to %s; images and videos to %s": _event("sinks-chosen", "sinks", "media"),
    "stopping: %d seeds released": _event("worker-stopping", "seeds"),
    "stopped by force: other workers claim this worker's seeds when its session lapses": _event("worker-forced"),
    "this worker ends: %s": _event("worker-failed", "error"),
    "this worker ends, since its task %r died": _event("worker-task-died", "task"),
    "thread %r has died": _event("thread-died", "thread"),
    "session thread": _event("session-thread-error"),
    "the spider couldn't start": _event("start-failed"),
    "the crawl failed": _event("crawl-failed"),
    "the load can't be measured: %s": _event("load-unknown", "error"),
    "no memory left to read %s": _event("memory-short", "seed"),
    "HEARTBEAT_FILE can't be written, so this worker will look dead: %s": _event("heartbeat-failed", "error"),
    "%s can't be told, so this worker will look dead: %s": _event("service-manager-away", "variable", "error"),
    "metrics are served at %s port %d": _event("metrics-served", "address", "port"),
    "metrics can't be served at %s port %d: %s": _event("metrics-not-served", "address", "port", "error"),
    "the metrics can't be read: %s": _event("metrics-unreadable", "error"),
    "the crawl has its own %s (FRONTIER_SETTINGS sets them); the project's are for its own spiders": _event(
        "settings-set-aside", "settings"
    ),
    "%s downloads %s here; this is given up: %s": _event("foreign-handler", "handler", "scheme", "given_up"),
    "FAST_ENGINE: it needs asyncio, which TWISTED_REACTOR isn't; Scrapy's own engine runs": _event(
        "fast-engine-without-asyncio"
    ),
    "FAST_ENGINE: not tested with Scrapy %s, only with %sx; Scrapy's own engine runs": _event(
        "fast-engine-off", "scrapy", "tested"
    ),
    "FAST_ENGINE: Scrapy has no %s any more; Scrapy's own engine runs": _event("fast-engine-missing", "names"),
    # Claims and sessions.
    "nothing is claimed: %s": _event("claims-stopped", "why"),
    "claims go on": _event("claims-resumed"),
    "claims: waiting for Redis: %s": _event("claims-waiting", "error"),
    "claims go on after an error": _event("claims-error"),
    "session of %s was lost; its seeds go to others": _event("session-lost", "owner"),
    "session not renewed in partition %d: %s": _event("session-not-renewed", "partition", "error"),
    "session not renewed in %d of %d partitions: %s": _event(
        "sessions-not-renewed", "partitions", "of_partitions", "error"
    ),
    "session renewed, but a subscriber to its renewals failed: %s": _event("renewal-subscriber-failed", "error"),
    "format of the frontier not read: %s": _event("format-unread", "error"),
    "no session in partition %d: %d pages are not fetched": _event("session-expired", "partition", "pages"),
    "Redis had forgotten how %d seeds of this worker ended; they are ready again": _event("seeds-recalled", "seeds"),
    "%d settlements: waiting for Redis: %s": _event("settlements-waiting", "settlements", "error"),
    "%d settlements were refused: other workers have those seeds now": _event("settlements-refused", "settlements"),
    "%d offers: waiting for Redis: %s": _event("offers-waiting", "offers", "error"),
    "%d offers are sent page by page: %s": _event("offers-one-by-one", "offers", "error"),
    # Redis.
    "Redis is away: other workers claim this worker's seeds when its session lapses": _event("redis-away-at-end"),
    "Redis is full: claims and offers wait until there is room; %s": _event("redis-full", "remedy"),
    "Redis has room again: claims and offers go on": _event("redis-has-room"),
    "%s: waiting for Redis: %s": _event("redis-waiting", "what", "error"),
    "Redis Cluster: the map of its slots can't be read: %s": _event("redis-map-unread", "error"),
    # What operators do.
    "an operator has drained this node": _event("node-drained"),
    "this node isn't drained any more": _event("node-resumed"),
    "this node's limits are now %g %% of memory, %g %% of CPU and %d seeds in the first claim": _event(
        "node-limits", "memory_percent", "cpu_percent", "first_batch"
    ),
    "an operator stops this node's workers": _event("node-stopped"),
    "the orders for node %s in Redis are damaged, so nothing changes: %s": _event("orders-damaged", "node", "error"),
    # Hosts and pages.
    "%s: %s in %.0f s (%s), such as %s%s": _event(
        "pages-failed", "host", "failures", "seconds", "reasons", "seed", "why"
    ),
    "no host answers this worker, the last was %s: it claims one seed at a time": _event("egress-down", "host"),
    "hosts answer this worker again, after %.0f s: it claims seeds as before": _event("egress-up", "seconds"),
    "can't ask for %s": _event("robots-error", "url"),
    "can't fetch %s": _event("media-error", "url"),
    "search for %s: no further page: %s": _event("search-broken-off", "words", "error"),
    "A page can't be closed: its browser is ended, and its other pages are rendered again": _event("browser-ended"),
    "A page's process is ended: it takes %d MB": _event("browser-page-ended", "megabytes"),
    "No picture of a failed step is kept in %s: %s": _event("evidence-not-kept", "folder", "why"),
    # Sites, plans and start lists.
    "%s; the earlier definition stays in use": _event("site-damaged", "error"),
    "%s; its pages wait": _event("site-secret-missing", "error"),
    "plans can't be told of %s": _event("plans-not-told", "seed"),
    "start list %s: %d entries are refused, one of them for this: %s; the hash %s has them": _event(
        "start-entries-refused", "key", "entries", "error", "refused_key"
    ),
    "start list %s isn't read: %s": _event("start-list-unread", "key", "error"),
    "start list %s is read again": _event("start-list-read", "key"),
    # Sinks and media.
    "%s: down, its items wait: %s": _event("sink-down", "sink", "error"),
    "%s: up again": _event("sink-up", "sink"),
    "%s: can't deliver a batch": _event("sink-batch-error", "sink"),
    "%s: can't send a batch": _event("sink-send-error", "sink"),
    "%s: answers with %s, not with its refusals by position": _event("sink-answer-wrong", "sink", "answer"),
    "%s: can't deliver an item": _event("sink-item-error", "sink"),
    "%s: refuses an item for good, and takes others: %s": _event("item-refused", "sink", "reason"),
    "files: no file for %s in %s: %s": _event("files-none", "name", "folder", "error"),
    "kafka: made topic %s": _event("kafka-topic-made", "topic"),
    "kafka: topic %s is not ours to make: %s": _event("kafka-topic-not-ours", "topic", "error"),
    "kafka: refuses messages: %s": _event("kafka-refuses", "error"),
    "mongo: no index on %s: %s": _event("mongo-no-index", "fields", "error"),
    "mongo: refuses %d of %d documents: %s": _event("mongo-refuses-some", "documents", "of_documents", "error"),
    "mongo: refuses a batch of %d: %s": _event("mongo-refuses-batch", "documents", "error"),
    "the media store takes nothing: %s": _event("media-store-down", "error"),
    # The monitor.
    "audit: %s %s %s: %s": _event("monitor-action", "user", "action", "target", "outcome"),
    "audit: %s sign-in from %s: done": _event("monitor-sign-in", "user", "address"),
    "audit: %s sign-in from %s: refused": _event("monitor-sign-in-refused", "user", "address"),
    "audit: %s sign-in from %s: too many failures": _event("monitor-sign-in-limited", "user", "address"),
    "an action of the monitor, %s, has died": _event("monitor-action-died", "task"),
    "The monitor ends: its %s has died": _event("monitor-died", "task"),
}


def event_of(template: object) -> LogEvent | None:
    """Returns the event that a record's template stands for; None: it has no name."""
    return EVENTS.get(LEFT_OUT.sub("", template)) if isinstance(template, str) else None
