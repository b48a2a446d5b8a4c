"""`scrapy site check`: is a site file right, and what does it read on a page?"""

from __future__ import annotations

import contextlib
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from crawler.cli.actions import Action, ActionCommand, Option
from crawler.cli.output import print_answer, print_json
from crawler.cli.tables import print_pairs

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from crawler.sites import Site

EXAMPLE_WORDS = ("flood", "洪水")
EXAMPLE_BASE = "https://example.org"  # stands for the base of a kind of site, which has none by itself


class Command(ActionCommand):
    """Checks a site file and shows what it reads on one page."""

    summary = "Check a site file; show what it reads on a page; say every key of one"
    actions: ClassVar[dict[str, Action]] = {
        "check": Action(
            "FILE|NAME [URL]",
            "check a site file and show how the site is searched; with a URL, show what it reads on that page",
            "check web https://example.org/",
            (
                Option(
                    "--base", "address of this installation, for a kind of site such as mediawiki", {"metavar": "URL"}
                ),
            ),
            ("A NAME is a site that Headroom knows, or a file in the folder that the setting SITES_DIR names.",),
        ),
        "schema": Action("", "print the JSON Schema of site files, by which editors complete and check keys", "schema"),
        "reference": Action("", "print docs/site-files.md: every key of a site file", "reference"),
    }

    async def do_check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Validates the site; with a URL, fetches that page and reads it.

        Raises:
            HeadroomError: The file is wrong, there is no such site, PARSER_MODULES lacks the module of its parser, or
                the page can't be fetched or read.
        """
        from crawler import config
        from crawler.errors import HeadroomError

        name, *rest = args
        site = self._load_site(name, opts.base)
        module = site.parser.partition(":")[0]
        if module and module not in config.PARSER_MODULES.of(self.values):
            raise HeadroomError(f"{name}: parser: a crawl refuses it: module {module} isn't in PARSER_MODULES")
        print_answer(
            opts, await self._read(site, rest[0]) if rest else _summary(site), lambda shown: print_pairs(_rows(shown))
        )

    def do_schema(self, _args: list[str], _opts: argparse.Namespace) -> None:
        """Prints the JSON Schema."""
        from crawler import sites
        from crawler.yaml_schema import schema_of

        print_json(schema_of(sites.Site, "site file"))

    def do_reference(self, _args: list[str], _opts: argparse.Namespace) -> None:
        """Prints the reference."""
        from crawler.cli.site_reference import site_reference

        print(site_reference(), end="")

    def _load_site(self, name: str, base: str | None) -> Site:
        from crawler import config, sites, yamlfile

        if name.endswith(yamlfile.SUFFIXES) or "/" in name:
            document = yamlfile.read(name)
            site = yamlfile.validate(document, sites.Site)
            sites.require_name(document, site, Path(name).stem)
        else:
            site = sites.load(name, config.SITES_DIR.of(self.values))
        return site.named(site.name, base) if base else site

    async def _read(self, site: Site, url: str) -> dict[str, Any]:
        """Returns what a site reads on a page: the results that it has, the fields, and the links that are followed."""
        from crawler import config, extract
        from crawler.cli.fetch import CrawlRefusesError, fetch
        from crawler.errors import ExtractError

        try:
            page = await fetch(url, self.values)
        except CrawlRefusesError as error:
            return {"site": site.name, "base": site.base, "url": error.address, "refused": str(error)}
        shown = {
            "site": site.name,
            "base": site.base,
            "url": page.url,
            "status": page.status,
            "content_type": page.content_type,
            "refused": "",
        }
        try:
            links = extract.links(page, site)
        except ExtractError:
            links = extract.Links()
        if links.urls or links.routes:
            shown["links"] = asdict(links)
        follows = {}
        with contextlib.suppress(ExtractError):  # `extract.fields` raises it below, too
            follows = {"follows": asdict(extract.followed(page, site))} if site.follow else {}
        try:
            modules = config.PARSER_MODULES.of(self.values)
            return shown | {"fields": asdict(extract.fields(page, site, parser_modules=modules))} | follows
        except ExtractError as error:
            if links.empty and site.results.empty:
                shown["links"] = asdict(links)
            if "links" in shown or follows:  # the page is no item, but leads to others, or says that there are none
                return shown | {"fails": error.reason} | follows
            if site.searchable:
                detail = str(error).removeprefix(f"{error.reason}: ")
                raise ExtractError(error.reason, f"{detail}; nor does `results.links` find any on it") from None
            raise


def _summary(site: Site) -> dict[str, Any]:
    """Returns how a site is searched, for example words, which fields it reads, and how politely."""
    example = site.named(site.name, EXAMPLE_BASE) if site.needs_base else site
    words = _example_words(site.search.encoding)
    targets = example.search_targets(words, pages=2, per_page=20, sort="newest") if site.searchable else []
    return {
        "site": site.name,
        "needs_base": site.needs_base,
        "searches": [asdict(target) for target in targets],
        "results": site.results.links.text if site.searchable else "",
        "reads": list(site.content.rules) if site.content else site.parser or "trafilatura",
        "follows": site.follow.model_dump(mode="json") if site.follow else "",
        "politeness": asdict(site.politeness),
    }


def _example_words(encoding: str) -> tuple[str, ...]:
    """Returns those example words that the site's encoding can write."""
    try:
        "".join(EXAMPLE_WORDS).encode(encoding)
    except UnicodeEncodeError:
        return EXAMPLE_WORDS[:1]
    return EXAMPLE_WORDS


def _rows(shown: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in shown.items():
        if name == "fields":
            yield from _field_rows(value)
        elif name == "links":
            yield name, _as_text(value["urls"]) or "none: the site says that there are no results"
            yield from _left_out_rows(value)
            if value["next"]:
                yield "next", _request(value["next"])
        elif name == "follows" and "urls" in value:
            yield name, _as_text(value["urls"]) or "none"
            yield from _left_out_rows(value)
        elif name == "searches":
            yield "search", "\n".join(map(_request, value)) or "none: its pages are only offered"
        elif name == "fails":
            yield "fields", f"none, as a content page it fails: {value}"
        elif value not in ("", None):
            yield name, _as_text(value)


def _field_rows(fields: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in fields.items():
        if name == "extra":
            yield from ((f"extra.{key}", _as_text(entry)) for key, entry in value.items())
        elif name != "missing" and value:
            yield name, _as_text(value)
    yield "missing", ", ".join(fields["missing"]) or "nothing"


def _left_out_rows(links: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields how many links weren't taken, and why."""
    if links["left_out"]:
        yield "left out", f"{links['left_out']} more"
    if links["traps"]:
        yield "traps", f"{links['traps']} that look like one of infinitely many"
    if links["routes"]:
        yield "routes", f"{links['routes']} that only a browser's script can open (#/...)"


def _request(target: dict[str, Any]) -> str:
    return " ".join(filter(None, (target["method"], target["url"], target["body"])))


def _as_text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "\n".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {entry}" for key, entry in value.items())
    return str(value)
