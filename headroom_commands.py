"""What Scrapy's entry points load: Headroom's commands, or in their place the reason why there are none.

Scrapy loads the entry points of all that is installed at the start of every command, in every project. A team's own
package may be called `crawler`, as Headroom's is, and Python imports the one that it finds first. So this module stands
outside of the package, and looks at what `crawler` is before it imports anything of it.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.commands.crawl import Command as ScrapyCrawl
from scrapy.commands.runspider import Command as ScrapyRunSpider
from scrapy.commands.settings import Command as ScrapySettings

if TYPE_CHECKING:
    import argparse

# Commands of Scrapy's that Headroom adds to.
SCRAPYS = {"crawl": ScrapyCrawl, "runspider": ScrapyRunSpider, "settings": ScrapySettings}
OURS = "crawler.discovery"  # a package in Headroom's that nobody else's has


def __getattr__(name: str) -> type[ScrapyCommand]:
    """Returns the class of a command.

    Raises:
        AttributeError: There is no such command.
    """
    if name.startswith("_"):
        raise AttributeError(name)
    found = find_spec("crawler")
    folders = list((found and found.submodule_search_locations) or ())  # within an egg, they are no folders
    if PathFinder.find_spec(OURS, folders):
        command: type[ScrapyCommand] = import_module(f"crawler.commands.{name}").Command
        return command
    if name in SCRAPYS:
        return SCRAPYS[name]
    place = folders[0] if folders else (found and found.origin) or "crawler"
    return type("Command", (ShadowedCommand,), {"place": place})


class ShadowedCommand(ScrapyCommand):
    """Stands for a command of Headroom's where another package of the same name hides Headroom's.

    Attributes:
        place: Where that package is.
    """

    place: ClassVar[str]
    requires_crawler_process = False
    default_settings: ClassVar[dict[str, Any]] = {"LOG_ENABLED": False}

    def short_desc(self) -> str:
        """Returns the reason."""
        return f"Not available: the package `crawler` at {self.place} shadows Headroom's"

    def run(self, _args: list[str], _opts: argparse.Namespace) -> None:
        """Says the reason and fails."""
        print(
            f"error: the package `crawler` at {self.place} shadows Headroom's, which has the same name; "
            "rename that one, or install Headroom in an environment of its own",
            file=sys.stderr,
        )
        self.exitcode = 1
