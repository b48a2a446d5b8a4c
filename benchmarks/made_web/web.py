"""A web whose pages are a function of their numbers: nothing of it is stored.

Each host has as many pages as the others. Page k of a host leads to the pages from 10 k + 1 to 10 k + 10 of it, and so
page 0 leads to all in some steps; and to ten of the pages shortly before it, five on its own host and one on each of
the next five. Its sentences are its own: no other page has any of them.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

HOSTS = 100
CHILDREN = 10
NEIGHBOURS, NEAR_PAGES = 10, 200  # links to earlier pages, and how far before it these are at most
WAITING = 9  # of each host, as the crawl goes on
SENTENCES, SENTENCE_WORDS = 30, 12  # of a page, some 3 kB
WORDS = """river bridge water street morning police village report family market house winter region station people
 office doctor summer field garden teacher window number letter minister company storm harbour council damage rescue
 school evening engine forest island mountain northern valley weather journey history paper question answer""".split()


@dataclass(frozen=True, slots=True)
class MadeWeb:
    """The web.

    Attributes:
        network: What the addresses of its hosts begin with, as `127.0.4`.
        port: Of all hosts.
        pages: How many there are on each host.
    """

    network: str
    port: int
    pages: int

    def url(self, host: int, page: int) -> str:
        """Returns the address of a page."""
        return f"http://{self.network}.{host + 1}:{self.port}/{page}.html"

    def depth(self, page: int) -> int:
        """Returns how many links lead to a page from the first one of its host."""
        depth = 0
        while page:
            page, depth = (page - 1) // CHILDREN, depth + 1
        return depth

    @property
    def waiting(self) -> range:
        """The pages of each host that wait as the crawl goes on: those that lead to its last ones."""
        return range(max(1, self.pages // CHILDREN - WAITING), self.pages // CHILDREN)

    @property
    def unknown(self) -> range:
        """The last pages of each host, which only those lead to."""
        return range(CHILDREN * self.waiting.start + 1, self.pages)

    def content(self, host: int, page: int) -> bytes:
        """Returns a page's HTML; empty where there is no such page."""
        if not 0 <= page < self.pages:
            return b""
        chance = random.Random(f"{host} {page}")
        links = "\n".join(f'<a href="{url}">{chance.choice(WORDS)}</a>' for url in self._links(chance, host, page))
        text = "\n".join(
            f"<p>{' '.join(chance.choices(WORDS, k=SENTENCE_WORDS))} {chance.getrandbits(40)}.</p>"
            for _ in range(SENTENCES)
        )
        title = f"{chance.choice(WORDS)} {host} {page}"
        return f"<html lang=en><title>{title}</title><body><h1>{title}</h1>{text}\n{links}</body></html>".encode()

    def _links(self, chance: random.Random, host: int, page: int) -> Iterator[str]:
        for child in range(CHILDREN * page + 1, min(CHILDREN * page + CHILDREN + 1, self.pages)):
            yield self.url(host, child)
        for number in range(NEIGHBOURS if page else 0):
            near = max(0, page - 1 - chance.randrange(NEAR_PAGES))
            yield self.url((host + max(0, number - NEIGHBOURS // 2 + 1)) % HOSTS, near)
