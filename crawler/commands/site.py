"""`scrapy site check`: is a site file right, and what does it make of a page?"""

from __future__ import annotations

import contextlib
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError

from crawler.commands.base import HeadroomCommand, print_json
from crawler.text import inert

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from crawler.models import Fetched
    from crawler.sites import Site

EXAMPLE_WORDS = ("flood", "洪水")
EXAMPLE_BASE = "https://example.org"  # stands for the place of a site that has none yet


class Command(HeadroomCommand):
    """Checks a site file and shows what it yields for one page."""

    def syntax(self) -> str:
        """Returns what the command line looks like."""
        return "check FILE|NAME [URL]"

    def short_desc(self) -> str:
        """Returns the line in `scrapy`'s list of commands."""
        return "Check a site file; show what it reads on a page, field by field"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Adds `--base`."""
        super().add_options(parser)
        parser.add_argument("--base", metavar="URL", help="where this installation is, for a kind of site")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        """Validates the site; with a URL, fetches that page and reads it.

        Raises:
            HeadroomError: The file is wrong, there is no such site, or the page can't be had or read.
            UsageError: The command line is none.
        """
        match args:
            case ["check", name]:
                site = self._site(name, opts.base)
                self._show(opts, _summary(site))
            case ["check", name, url]:
                site = self._site(name, opts.base)
                self._show(opts, self._read(site, url))
            case _:
                raise UsageError(f"scrapy site {self.syntax()}")

    def _site(self, name: str, base: str | None) -> Site:
        from crawler import sites, yamlfile

        if name.endswith((".yaml", ".yml")) or "/" in name:
            site = yamlfile.validate(yamlfile.read(name), sites.Site)
        else:
            site = sites.load(name, self.values.get("SITES_DIR") or "")
        return site.named(site.name, base) if base else site

    def _read(self, site: Site, url: str) -> dict[str, Any]:
        from crawler import config, extract
        from crawler.errors import ExtractError

        page = self._fetch(url)
        shown = {
            "site": site.name,
            "base": site.base,
            "url": page.url,
            "status": page.status,
            "content_type": page.content_type,
        }
        try:
            links = extract.links(page, site)
        except ExtractError:
            links = extract.Links()
        if links.urls:
            return shown | {"links": asdict(links)}
        follows = {}
        with contextlib.suppress(ExtractError):  # which `fields` meets as well
            follows = {"follows": asdict(extract.followed(page, site))} if site.follow else {}
        try:
            modules = config.words(self.values, "PARSER_MODULES")
            return shown | {"fields": asdict(extract.fields(page, site, parser_modules=modules))} | follows
        except ExtractError as error:
            if links.empty and site.results.empty:
                return shown | {"links": asdict(links)}
            if follows:  # a page between: it leads on without being an item
                return shown | {"fails": error.reason} | follows
            raise

    def _fetch(self, url: str) -> Fetched:
        from crawler.commands.download import download

        contact = self.values.get("CONTACT")
        agent = self.values["USER_AGENT"] + (f" (+{contact})" if contact else "")
        return download(
            url,
            user_agent=agent,
            timeout_s=self.values.getfloat("DOWNLOAD_TIMEOUT"),
            max_bytes=self.values.getint("DOWNLOAD_MAXSIZE"),
        )

    def _show(self, opts: argparse.Namespace, value: dict[str, Any]) -> None:
        if opts.json:
            print_json(value)
        else:
            _print_table(value)


def _summary(site: Site) -> dict[str, Any]:
    """Returns what a site searches like and which fields it reads."""
    example = site.named(site.name, EXAMPLE_BASE) if site.needs_base else site
    words = _example_words(site.search.encoding)
    targets = example.search_targets(words, pages=2, per_page=20, sort="newest") if site.searchable else []
    if site.content:
        reads: Any = list(site.content.rules)
    else:
        reads = site.parser or "trafilatura"
    return {
        "site": site.name,
        "needs_base": site.needs_base,
        "searches": [asdict(target) for target in targets],
        "results": site.results.links.text if site.searchable else "",
        "reads": reads,
        "follows": site.follow.model_dump(mode="json") if site.follow else "",
        "politeness": asdict(site.politeness),
    }


def _example_words(encoding: str) -> tuple[str, ...]:
    """Returns those of the example words that the site's encoding can write."""
    try:
        "".join(EXAMPLE_WORDS).encode(encoding)
    except UnicodeEncodeError:
        return EXAMPLE_WORDS[:1]
    return EXAMPLE_WORDS


def _print_table(value: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(show_header=False, box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, entry in _rows(value):
        table.add_row(Text(inert(name)), Text(inert(entry)))
    Console(highlight=False, emoji=False).print(table)


def _rows(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, entry in value.items():
        if name == "fields":
            yield from _field_rows(entry)
        elif name == "links":
            yield "links", _plain(entry["urls"]) or "none: the site says that there are no results"
            yield from _left_rows(entry)
            if entry["next"]:
                yield "next", _request(entry["next"])
        elif name == "follows" and "urls" in entry:
            yield name, _plain(entry["urls"]) or "none"
            yield from _left_rows(entry)
        elif name == "searches":
            yield "search", "\n".join(map(_request, entry)) or "none: its pages are only offered"
        elif entry not in ("", None):
            yield name, _plain(entry)


def _field_rows(fields: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, entry in fields.items():
        if name == "extra":
            yield from ((f"extra.{key}", _plain(part)) for key, part in entry.items())
        elif name != "missing" and entry:
            yield name, _plain(entry)
    yield "missing", ", ".join(fields["missing"]) or "nothing"


def _left_rows(links: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Says how many links weren't taken, and why."""
    if links["left_out"]:
        yield "left out", f"{links['left_out']} more"
    if links["traps"]:
        yield "traps", f"{links['traps']} that look like one of infinitely many"


def _request(target: dict[str, Any]) -> str:
    return " ".join(filter(None, (target["method"], target["url"], target["body"])))


def _plain(entry: Any) -> str:
    if isinstance(entry, list | tuple):
        return "\n".join(map(str, entry))
    if isinstance(entry, dict):
        return ", ".join(f"{key} {part}" for key, part in entry.items())
    return str(entry)
