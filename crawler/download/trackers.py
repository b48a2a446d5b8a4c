"""Hosts that count visitors and hold nothing that a page shows. Pure."""

from __future__ import annotations

from crawler.base import urls

# The commonest by themselves, with all of their subdomains; what else a page loads is fetched politely.
DOMAINS = frozenset(
    """google-analytics.com googletagmanager.com doubleclick.net googlesyndication.com googleadservices.com
    connect.facebook.net hotjar.com clarity.ms bat.bing.com mixpanel.com segment.io segment.com amplitude.com
    fullstory.com newrelic.com nr-data.net sentry.io scorecardresearch.com quantserve.com chartbeat.com
    hm.baidu.com mc.yandex.ru top-fwz1.mail.ru cnzz.com umeng.com plausible.io matomo.cloud
    cloudflareinsights.com""".split()
)


def is_tracker(url: str) -> bool:
    """Returns whether a canonical URL's host only counts visitors."""
    labels = urls.hostname(url).split(".")
    return any(".".join(labels[start:]) in DOMAINS for start in range(len(labels) - 1))
