"""Debian's packages of HTML manuals, unpacked below .cache, and which of their pages links lead to.

The links are read by lxml alone, so that what a crawl is held against shares no line with the crawl.
"""

from __future__ import annotations

import os
import subprocess
from collections import deque
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import lxml.html

from crawler.base.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FETCH_SECONDS = 300.0  # for one package, of 13 MB at most
HTML = (".html", ".htm")
MAX_LINKS = 10_000  # of a page: an index has some thousands


class Package(NamedTuple):
    """A package of Debian's, the folder of its manual in it, and the page that the manual begins with."""

    name: str
    folder: str
    first: str


PACKAGES = (
    Package("git-doc", "usr/share/doc/git-doc", "index.html"),
    Package("python3.11-doc", "usr/share/doc/python3.11/html", "index.html"),
    Package("sqlite3-doc", "usr/share/doc/sqlite3", "index.html"),
    Package("python-django-doc", "usr/share/doc/python-django-doc/html", "index.html"),
    Package("postgresql-doc-15", "usr/share/doc/postgresql-doc-15/html", "index.html"),
    Package("cmake-doc", "usr/share/doc/cmake-data/html", "index.html"),
    Package("apache2-doc", "usr/share/doc/apache2-doc/manual", "en/index.html"),
    Package("libboost1.81-doc", "usr/share/doc/libboost1.81-doc/doc/html", "index.html"),
    Package("libstdc++-12-doc", "usr/share/doc/gcc-12-base/libstdc++", "index.html"),
    Package("cppreference-doc-en-html", "usr/share/cppreference/doc/html/en", "index.html"),
    Package("openjdk-17-doc", "usr/share/doc/openjdk-17-jre-headless/api", "index.html"),
)


class Manual:
    """A package's manual on disk.

    Attributes:
        root: Its folder; an address's path is a path below it.
        first: The path of its first page.
    """

    def __init__(self, package: Package, cache: Path) -> None:
        self.name = package.name
        self.root = cache / package.name / package.folder
        self.first = package.first
        if not (self.root / self.first).exists():
            _unpack(package.name, cache)
        if not (self.root / self.first).exists():
            raise UnavailableError(f"{package.name} has no {package.folder}/{self.first}")

    @cached_property
    def depths(self) -> dict[str, int]:
        """The pages that links lead to from the first one, each with the fewest links to it, by path."""
        depths, to_read = {self.first: 0}, deque([self.first])
        while to_read:
            path = to_read.popleft()
            for target in self._links(path):
                if target not in depths:
                    depths[target] = depths[path] + 1
                    to_read.append(target)
        return depths

    def _links(self, path: str) -> Iterator[str]:
        """Yields the paths of pages of the manual that a page links to, in order."""
        page = lxml.html.fromstring((self.root / path).read_bytes() or b"<p>", parser=_PARSER)
        base = next((str(href) for href in page.xpath("//base/@href")), "")
        here = urljoin(f"http://manual/{path}", base)
        for href in page.xpath("//a/@href | //area/@href")[:MAX_LINKS]:
            try:
                address = urlsplit(urldefrag(urljoin(here, str(href).strip())).url)
            except ValueError:
                continue
            target = os.path.normpath(unquote(address.path).lstrip("/")) if address.path else ""
            is_inside = address.scheme == "http" and address.netloc == "manual" and not address.query
            if is_inside and target.lower().endswith(HTML) and (self.root / target).is_file():
                yield target


_PARSER = lxml.html.HTMLParser(encoding="utf-8", huge_tree=True)


def _unpack(name: str, cache: Path) -> None:
    """Fetches a package of Debian's and unpacks it.

    Raises:
        UnavailableError: It can't be had here.
    """
    folder = cache / name
    folder.mkdir(parents=True, exist_ok=True)
    for words in (
        ["apt-get", "--quiet", "--quiet", "download", name],
        ["sh", "-c", "dpkg-deb -x ./*.deb . && rm ./*.deb"],
    ):
        done = subprocess.run(words, cwd=folder, capture_output=True, timeout=FETCH_SECONDS, check=False)
        if done.returncode:
            raise UnavailableError(f"{name}: {' '.join(words)}: {done.stderr.decode(errors='replace').strip()}")
