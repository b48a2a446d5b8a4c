"""Filters of URLs: they judge as soon as a link is met."""

from __future__ import annotations

import re
from abc import abstractmethod
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import re2

from crawler.scope.entries import Entries
from crawler.scope.registrable import registrable_domain
from crawler.scope.scope_file import MAX_SUFFIX_CHARACTERS
from crawler.scope.url_filter import UrlFilter
from crawler.sites.pattern import PATTERN_MEMORY_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.scope.candidate import Candidate
    from crawler.sites.pattern import Pattern

MAX_HOSTS = 10_000  # most hosts of which a filter remembers what it said, in some 200 bytes each
# What the states of a set of patterns may take beside these, at least: RE2's own default.
SET_MEMORY_BYTES = 8 << 20
_PLAIN_TEXT = re.compile(r"[\w/=&%~:-]+", re.ASCII)


class DepthFilter(UrlFilter):
    """Refuses pages that too many links lead to."""

    name = "depth"

    def __init__(self, max_depth: int) -> None:
        self._max_depth = max_depth

    def refuses(self, candidate: Candidate) -> bool:
        """Returns whether it is too deep."""
        return candidate.depth > self._max_depth


class SuffixFilter(UrlFilter):
    """Refuses addresses by the ends of their paths."""

    name = "suffixes"

    def __init__(self, suffixes: Sequence[str]) -> None:
        entries = Entries(suffixes)
        self._wanted, self._unwanted = entries.wanted, entries.unwanted

    def refuses(self, candidate: Candidate) -> bool:
        """Returns whether the path's end is out of scope."""
        path = candidate.url.partition("?")[0].partition("#")[0]
        end = path[-MAX_SUFFIX_CHARACTERS:].lower()
        return end.endswith(self._unwanted) or bool(self._wanted and not end.endswith(self._wanted))


class _OfHosts(UrlFilter):
    """Remembers what it said of hosts, since links are many and their hosts few."""

    def __init__(self, entries: Sequence[str]) -> None:
        self._entries = Entries(entries)
        self._refuses = lru_cache(MAX_HOSTS)(self.refuses_host)

    def refuses(self, candidate: Candidate) -> bool:
        """Returns whether the host is out of scope."""
        return self._refuses(candidate.host)

    def refuses_host(self, host: str) -> bool:
        """Returns the same of a host's name."""
        names = self.names_of(host)
        return self._entries.refuse(lambda entries: not names.isdisjoint(entries))

    @abstractmethod
    def names_of(self, host: str) -> frozenset[str]:
        """Returns what entries may call a host."""


class HostFilter(_OfHosts):
    """Refuses hosts by their names, and by domains that they are below."""

    name = "hosts"

    def names_of(self, host: str) -> frozenset[str]:
        """Returns the name, and `*.` before each domain that it is below."""
        labels = host.split(".")
        return frozenset({host, *("*." + ".".join(labels[place:]) for place in range(1, len(labels)))})


class DomainFilter(_OfHosts):
    """Refuses hosts by their registrable domains."""

    name = "domains"

    def names_of(self, host: str) -> frozenset[str]:
        """Returns the domain."""
        return frozenset({registrable_domain(host)})


class _OfPatterns(UrlFilter):
    """Runs all patterns of a list at once, by RE2, in linear time."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        options = re2.Options()
        options.log_errors = False
        options.max_mem = SET_MEMORY_BYTES + PATTERN_MEMORY_BYTES * len(patterns)
        # A text without RE2's signs is found in a tenth of the time as what it is.
        self._texts = [pattern.text.encode() for pattern in patterns if _PLAIN_TEXT.fullmatch(pattern.text)]
        others = [pattern.text for pattern in patterns if not _PLAIN_TEXT.fullmatch(pattern.text)]
        self._others: Any = None
        if others:
            self._others = re2.Set.SearchSet(options)
            for text in others:
                self._others.Add(text)
            self._others.Compile()

    def matches(self, candidate: Candidate) -> bool:
        """Returns whether a pattern matches anywhere in the address."""
        address = candidate.text
        for text in self._texts:
            if text in address:
                return True
        return self._others is not None and bool(self._others.Match(address))


class AllowFilter(_OfPatterns):
    """Refuses addresses that match none of some patterns."""

    name = "allow"

    def refuses(self, candidate: Candidate) -> bool:
        """Returns whether no pattern matches."""
        return not self.matches(candidate)


class DenyFilter(_OfPatterns):
    """Refuses addresses that match one of some patterns."""

    name = "deny"

    def refuses(self, candidate: Candidate) -> bool:
        """Returns whether a pattern matches."""
        return self.matches(candidate)
