"""What all applications have in common: a server on loopback that is filled with articles before its first start."""

from __future__ import annotations

import sys
from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from testbed.applications.articles import articles
from testbed.applications.page import TruePage
from testbed.servers.process import Server, answers_http, free_port

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


class Application(Server):
    """An application with a page for each article.

    Args:
        folder: Data and log go to a folder `NAME` in it.
        count: Number of articles.

    Raises:
        UnavailableError: It isn't installed, and can't be.
    """

    NAME: ClassVar[str]
    PAGE: ClassVar[str] = "/"  # which it answers once it is up
    _filled: Path  # is there once it has been filled

    def __init__(self, folder: Path, count: int) -> None:
        super().__init__(self.NAME, (), (folder / self.NAME).absolute())
        self.articles = articles(count)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Starts it and waits until it answers; the first time, fills it with its articles."""
        if not self._filled.exists():
            self._fill()
        super().start()

    @abstractmethod
    def truth(self) -> list[TruePage]:
        """Returns its pages as it has them itself."""

    @abstractmethod
    def _fill(self) -> None:
        """Installs it and writes its articles."""

    def _runs(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        """Says what serves it."""
        self._command = tuple(command)
        self._environment |= environment or {}

    def _runs_php(self, root: Path, environment: Mapping[str, str] | None = None, *options: str) -> None:
        """Says that PHP's built-in server serves it, by two processes."""
        command = ["php", *options, "-S", f"127.0.0.1:{self.port}", "-t", str(root)]
        self._runs(command, {"PHP_CLI_SERVER_WORKERS": "2", **(environment or {})})

    def _answers(self) -> bool:
        return answers_http(self.port, self.PAGE)


class WrittenPages(Application):
    """An application whose pages are files, so that what was written is what there is."""

    PLACE: ClassVar[str]  # of a page, below the application's address; `{}` is its article's number

    def __init__(self, folder: Path, count: int) -> None:
        super().__init__(folder, count)
        self._filled = self.folder / "pages"
        server = [sys.executable, "-m", "http.server", "--bind", "127.0.0.1", "--directory", str(self._filled)]
        self._runs([*server, str(self.port)])

    def truth(self) -> list[TruePage]:
        """Returns its pages as they were written."""
        return [
            TruePage(
                self.url + self.PLACE.format(article.number),
                article.title,
                article.text,
                article.published,
                author=article.author,
            )
            for article in self.articles
        ]
