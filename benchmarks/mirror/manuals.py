"""Debian's packages of HTML manuals, unpacked below .cache, and which of their pages links lead to.

The links are read by lxml alone, so that what a crawl is held against shares no line with the crawl.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections import deque
from concurrent.futures import ProcessPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import lxml.html
import orjson

from crawler.base.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FETCH_SECONDS = 300.0  # for one package, of 38 MB at most
HTML = (".html", ".htm")
MAX_LINKS = 10_000  # of a page: an index has some thousands


READER = 2  # of what is kept of pages: rises as the reader changes


class Page(NamedTuple):
    """What was read of a page: its size, and the paths of all that look like pages that it links to."""

    size_bytes: int
    links: list[str]


class Bounds(NamedTuple):
    """What is left out of a crawl.

    Attributes:
        depth: Most links from a manual's first page to a page.
        denied: Patterns of paths that aren't asked for.
        suffixes: Ends of paths, likewise.
        max_bytes: Of a page; a larger one is asked for, but leads nowhere.
    """

    depth: int
    denied: tuple[str, ...]
    suffixes: tuple[str, ...]
    max_bytes: int

    def refuse(self, path: str) -> bool:
        """Returns whether a path isn't to be asked for, however few links lead there."""
        return path.lower().endswith(self.suffixes) or any(re.search(pattern, f"/{path}") for pattern in self.denied)


class Package(NamedTuple):
    """A package of Debian's, the folder of its manual in it, and the page that the manual begins with."""

    name: str
    folder: str
    first: str


PACKAGES = (  # the first five are small
    Package("git-doc", "usr/share/doc/git-doc", "index.html"),
    Package("python3.11-doc", "usr/share/doc/python3.11/html", "index.html"),
    Package("sqlite3-doc", "usr/share/doc/sqlite3", "index.html"),
    Package("python-django-doc", "usr/share/doc/python-django-doc/html", "index.html"),
    Package("postgresql-doc-15", "usr/share/doc/postgresql-doc-15/html", "index.html"),
    Package("libglib2.0-doc", "usr/share/gtk-doc/html/glib", "index.html"),
    Package("libgtk-3-doc", "usr/share/gtk-doc/html/gtk3", "index.html"),
    Package("groovy-doc", "usr/share/doc/groovy/api", "index.html"),
    Package("cmake-doc", "usr/share/doc/cmake-data/html", "index.html"),
    Package("wx3.2-doc", "usr/share/doc/wx3.2-doc/html", "index.html"),
    Package("apache2-doc", "usr/share/doc/apache2-doc/manual", "en/index.html"),
    Package("libjuce-doc", "usr/share/doc/juce-modules-source/apiref", "index.html"),
    Package("linux-doc-6.1", "usr/share/doc/linux-doc-6.1/html", "index.html"),
    Package("fop-doc", "usr/share/doc/fop-doc/html/api", "index.html"),
    Package("libstdc++-12-doc", "usr/share/doc/gcc-12-base/libstdc++", "index.html"),
    Package("libboost1.81-doc", "usr/share/doc/libboost1.81-doc/doc/html", "index.html"),
    Package("cppreference-doc-en-html", "usr/share/cppreference/doc/html/en", "index.html"),
    Package("libapache-poi-java-doc", "usr/share/doc/libapache-poi-java/api", "index.html"),
    Package("libgtk-4-doc", "usr/share/doc/libgtk-4-doc/gtk4", "index.html"),
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
        self._cache = cache / package.name
        self.root = cache / package.name / package.folder
        self.first = package.first
        if not (self.root / self.first).exists():
            _unpack(package.name, cache)
        if not (self.root / self.first).exists():
            raise UnavailableError(f"{package.name} has no {package.folder}/{self.first}")

    @cached_property
    def pages(self) -> dict[str, Page]:
        """All pages of HTML in it, by path; what was read once is kept beside the package."""
        saved = self._cache / f"pages-{READER}.json"
        if not saved.exists():
            paths = [path.relative_to(self.root).as_posix() for path in self.root.rglob("*")]
            paths = [path for path in paths if path.lower().endswith(HTML) and (self.root / path).is_file()]
            with ProcessPoolExecutor() as readers:
                read = dict(zip(paths, readers.map(self._read, paths, chunksize=20), strict=True))
            saved.write_bytes(orjson.dumps(read))
        return {path: Page(*page) for path, page in orjson.loads(saved.read_bytes()).items()}

    def depths(self, bounds: Bounds) -> dict[str, int]:
        """Returns the pages that links lead to from the first one, each with the fewest links to it, by path."""
        depths, to_read = {self.first: 0}, deque([self.first])
        while to_read:
            path = to_read.popleft()
            if self.pages[path].size_bytes > bounds.max_bytes or depths[path] == bounds.depth:
                continue
            for target in self.pages[path].links:
                if target in self.pages and target not in depths and not bounds.refuse(target):
                    depths[target] = depths[path] + 1
                    to_read.append(target)
        return depths

    def _read(self, path: str) -> tuple[int, list[str]]:
        content = (self.root / path).read_bytes()
        return len(content), list(dict.fromkeys(self._links(path, content)))

    def _links(self, path: str, content: bytes) -> Iterator[str]:
        """Yields the paths of pages of HTML on the same host that a page links to, in order."""
        page = lxml.html.fromstring(content.strip() or b"<p>", parser=_PARSER)
        base = next((str(href) for href in page.xpath("//base/@href")), "")
        here = urljoin(f"http://manual/{path}", base)
        for href in page.xpath("//a/@href | //area/@href")[:MAX_LINKS]:
            try:
                address = urlsplit(urldefrag(urljoin(here, str(href).strip())).url)
            except ValueError:
                continue
            target = os.path.normpath(unquote(address.path).lstrip("/")) if address.path else ""
            is_inside = address.scheme == "http" and address.netloc == "manual" and not address.query
            if is_inside and target.lower().endswith(HTML) and not _LONE_PERCENT.search(address.path):
                yield target


_LONE_PERCENT = re.compile("%(?![0-9A-Fa-f]{2})")  # what browsers send as it is, and nginx refuses (400)
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
