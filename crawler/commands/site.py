"""`scrapy site`: is a site file right, and what does it read on a page? What might the file of a new site be?"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from crawler.cli.actions import FLAG, Action, ActionCommand, Option
from crawler.cli.output import print_answer, print_json
from crawler.cli.site_rows import rows
from crawler.cli.text_tables import print_pairs, print_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy.settings import Settings

    from crawler.sites import Site

EXAMPLE_WORDS = ("flood", "洪水")
PAGES = {"content": "content", "nav": "results"}  # what site files call a frontier's pages
EXAMPLE_BASE = "https://example.org"  # stands for the base of a kind of site, which has none by itself


def _seconds(text: str) -> float:
    """Returns the seconds that an option says."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not math.isfinite(seconds):
        raise argparse.ArgumentTypeError(f"expected a number of seconds, got {text!r}")
    return seconds


# Kinds of options, and parts of what is said of them.
URL, WORDS, FILE_OR_NAME = {"metavar": "URL"}, {"metavar": "WORDS"}, {"metavar": "FILE|NAME", "default": "web"}
COUNT, SECONDS = {"metavar": "NUMBER", "type": int}, {"metavar": "SECONDS", "type": _seconds}
SEARCHED = "its results, what the first of them holds, and the first page past the end"
ROBOTS_DELAY = "if its robots.txt asks for no more"
ABOUT_WORD = (
    "WORD is one that several pages of the site have; without it, one is taken from the page. URL may also be a page "
    "of results for WORD, where no form leads to the search."
)
ABOUT_ASKING = (
    "It asks for a dozen pages at most, those that a crawl may ask for, and says each with its reason. A browser "
    "renders five at most, where nothing stands in pages before their scripts have run. What could not be found stands "
    "in the file as a comment."
)


class Command(ActionCommand):
    """Checks and proposes site files, and shows what pages hold and which need a browser."""

    summary = "Check or propose a site file; show what it reads on a page"
    actions: ClassVar[dict[str, Action]] = {
        "check": Action(
            "FILE|NAME [URL]",
            "check a site file and show how the site is searched; with a URL, show what it reads on that page",
            "check web https://example.org/",
            (
                Option("--base", "address of this installation, for a kind of site such as mediawiki", URL),
                Option("--search", f"search the site for these words: show {SEARCHED}", WORDS),
                Option("--render", "have a browser render the page of the URL, and show what JSON it loads", FLAG),
                Option("--words", "beside --render: what steps fill in for {keywords} (flood)", WORDS),
            ),
            ("A NAME is a site that Headroom knows, or a file in the folder that the setting SITES_DIR names.",),
        ),
        "new": Action(
            "URL [WORD]",
            "propose a site file for a site: find its search, ask it once, and show what the file reads",
            "new https://example.org/ flood",
            (
                Option("--output", "write the file there, if there is none, named as the site", {"metavar": "FILE"}),
                Option("--name", "name of the site; without it, made of its host", {"metavar": "NAME"}),
                Option("--delay", f"seconds between two requests to a host, {ROBOTS_DELAY} (1)", SECONDS),
            ),
            (ABOUT_WORD, ABOUT_ASKING),
        ),
        "verdicts": Action(
            "",
            "show which sites were found to need a browser, of those that leave that to the crawl, and by which pages",
            "verdicts",
        ),
        "explore": Action(
            "URL",
            "click what a page has to click, and show what only that reveals, with the steps that lead there",
            "explore https://example.org/product/17",
            (
                Option("--site", "site whose delay, headers and hosts hold (web)", FILE_OR_NAME),
                Option("--depth", "clicks that lead to a state at most (3)", COUNT | {"default": 3}),
                Option("--states", "states that are looked at, at most (100)", COUNT | {"default": 100}),
                Option("--seconds", "for all of it; what it has by then is shown (120)", SECONDS | {"default": 120}),
            ),
            ("Only GETs are sent, no other page is opened, and neither a logout nor a form's button is clicked.",),
        ),
        "schema": Action("", "print the JSON Schema of site files, by which editors complete and check keys", "schema"),
    }

    async def do_check(self, args: list[str], opts: argparse.Namespace) -> None:
        """Validates the site; with a URL, fetches that page and reads it.

        Raises:
            HeadroomError: The file is wrong, there is no such site, PARSER_MODULES lacks the module of its parser, or
                the page can't be fetched or read, or not by a crawl; the answer is printed before, as far as it goes.
            UsageError: Options and arguments don't go together, or one that says words has none.
        """
        from scrapy.exceptions import UsageError

        from crawler import config
        from crawler.base.errors import HeadroomError
        from crawler.base.text import one_line
        from crawler.base.urls import dropped_fragment

        name, *rest = args
        site = self._load_site(name, opts.base)
        module = site.parser.partition(":")[0]
        if module and module not in config.PARSER_MODULES.of(self.values):
            raise HeadroomError(f"{name}: parser: a crawl refuses it: module {module} isn't in PARSER_MODULES")
        search = _words(opts.search, "check: expected words after --search")
        words = " ".join(_words(opts.words, "check: expected words after --words")) or EXAMPLE_WORDS[0]
        if search and rest:
            raise UsageError("site check: expected a URL or --search, not both")
        if opts.render and not rest:
            raise UsageError("site check: expected a URL beside --render")
        if search and site.description_url:
            from crawler.cli import site_proposal

            site = site.described(await site_proposal.described(site, self.values, search[0]))
        if search or rest:
            from crawler.cli import site_check  # which takes half a second to load, and is for pages alone

        if search:
            shown = await site_check.search(site, self.values, search)
        elif rest:
            if fragment := dropped_fragment(rest[0]):
                note = f"a crawl drops {one_line(fragment)}: it asks for the page before it, and reads that"
                print("note:", note, file=sys.stderr)
            shown = await site_check.page(rest[0], site, self.values, renders=opts.render, words=words)
        else:
            shown = _summary(site, self.values)
        print_answer(opts, shown, lambda shown: print_pairs(rows(shown)))
        if (search or rest) and (why := site_check.unread(shown)):  # a check that saw nothing must not pass
            raise HeadroomError(why)

    async def do_new(self, args: list[str], opts: argparse.Namespace) -> None:
        """Proposes a site file: on stdout, or in a file."""
        from crawler.base.errors import HeadroomError, shown
        from crawler.base.item import is_site_name
        from crawler.cli import site_proposal

        url, *rest = args
        word = " ".join(_words(rest[0] if rest else None, "new: expected a WORD after the URL"))
        output = Path(opts.output) if opts.output else None
        name = opts.name or (output.stem if output else "")
        if name and not is_site_name(name):
            raise HeadroomError(f"{shown(name)} is no name of a site: 1 to 64 of a-z, 0-9, _ and -, no - or _ first")
        if output and output.exists():
            raise HeadroomError(f"{output} is there already; scrapy site check {output} says what it reads")
        delay_s = site_proposal.DELAY_SECONDS if opts.delay is None else max(0.0, opts.delay)
        answer = await site_proposal.propose(url, self.values, word=word, name=name, delay_s=delay_s)
        if output:
            site_proposal.save(answer["file"], output)
        if opts.json:
            print_json(answer)
            return
        for part in site_proposal.shortened(answer):
            print_pairs(rows(part), to=sys.stderr)
        if not output:
            print(answer["file"], end="")

    async def do_verdicts(self, _args: list[str], opts: argparse.Namespace) -> None:
        """Shows the verdicts of sites whose `render` is `auto`."""
        from crawler.frontier.render_verdicts import RenderVerdicts

        async with self.connect() as operator:
            verdicts = await RenderVerdicts(operator.redis, operator.keys).all()
        shown = [
            {"site": site, "pages": PAGES[frontier]} | asdict(verdict) for (site, frontier), verdict in verdicts.items()
        ]
        print_answer(opts, {"verdicts": shown}, _print_verdicts)

    async def do_explore(self, args: list[str], opts: argparse.Namespace) -> None:
        """Explores a page by clicks."""
        from crawler.cli.page_browser import explore
        from crawler.render.exploration import ExplorationLimits

        limits = ExplorationLimits(
            depth=min(max(opts.depth, 1), 10),
            states=min(max(opts.states, 1), 10_000),
            seconds=min(max(opts.seconds, 1.0), 3_600.0),
        )
        shown = await explore(args[0], self.values, self._load_site(opts.site, None), limits)
        print_answer(opts, shown, lambda shown: print_pairs(rows(shown)))

    def do_schema(self, _args: list[str], _opts: argparse.Namespace) -> None:
        """Prints the JSON Schema."""
        from crawler import sites
        from crawler.base.yaml_schema import schema_of

        print_json(schema_of(sites.Site, "site file"))

    def _load_site(self, name: str, base: str | None) -> Site:
        from crawler import config, sites
        from crawler.base import yamlfile

        if name.endswith(yamlfile.SUFFIXES) or "/" in name:
            document = yamlfile.read(name)
            site = sites.site_of(document)
            sites.require_name(document, site, Path(name).stem)
        else:
            site = sites.load(name, config.SITES_DIR.of(self.values))
        return site.named(site.name, base) if base else site


def _words(text: str | None, expected: str) -> list[str]:
    """Returns the words that a command line says; none where it doesn't say any.

    Args:
        text: The argument; None: it isn't there.
        expected: What the message says of one that is blank.
    """
    from scrapy.exceptions import UsageError

    words = (text or "").split()
    if text is not None and not words:
        raise UsageError(f"site {expected}, got {text!r}")
    return words


def _print_verdicts(answer: dict[str, Any]) -> None:
    if not answer["verdicts"]:
        print("no verdict yet on any site that leaves it to the crawl (`render: auto`)")
        return
    rows = [
        (
            verdict["site"],
            verdict["pages"],
            "rendered" if verdict["needs_browser"] else "as they come",
            verdict["time"],
            _lacks(verdict["lacked"]),
            _lacks(verdict["brought"]),
            verdict["url"],
        )
        for verdict in answer["verdicts"]
    ]
    print_table(("site", "pages", "are", "since", "lacked as it came", "rendering brought", "seen on"), rows)


def _lacks(names: Sequence[str]) -> str:
    """Returns the fields that a page lacked, or all of what it fails without by the ledger's word for that."""
    all_of_it = {"no-content": "its content", "not-results": "its results"}
    return ", ".join(all_of_it.get(name, name) for name in names) or "nothing"


def _summary(site: Site, settings: Settings) -> dict[str, Any]:
    """Returns how a site is searched, for example words, which fields it reads, how politely, and with what secrets."""
    from crawler.download.site_headers import SiteHeaders

    example = site.named(site.name, EXAMPLE_BASE) if site.needs_base else site
    words = _example_words(site.search.encoding)
    targets = example.search_targets(words, pages=2, per_page=20, sort="newest") if site.searchable else []
    searches = None if example.description_url else [asdict(target) for target in targets]
    return {
        "site": site.name,
        "needs_base": site.needs_base,
        "described": example.description_url,
        "searches": searches,
        "results": site.results.links.text if site.searchable else "",
        "match_text": site.results.match_text,
        "reads": _read_by(site),
        "auto": _auto(site),
        "follows": site.follow.model_dump(mode="json") if site.follow else "",
        "politeness": asdict(site.politeness),
        "secrets": SiteHeaders.of(settings).bindings(site),
    }


def _read_by(site: Site) -> list[str] | str:
    """Returns the fields that a site's rules read, its parser, or what it reads pages by where it says nothing."""
    if not site.content:
        return site.parser or "declarations"
    return [*site.content.rules, *(["comments"] if site.content.comments else [])]


def _auto(site: Site) -> list[str]:
    """Returns those of the fields that a site's rules name which are read as without selectors."""
    content = site.content
    if not content:
        return []
    names = [name for name, rule in content.field_rules.items() if rule.is_auto]
    return [*names, *(["comments"] if content.comments and content.comments.is_auto else [])]


def _example_words(encoding: str) -> tuple[str, ...]:
    """Returns those example words that the site's encoding can write."""
    try:
        "".join(EXAMPLE_WORDS).encode(encoding)
    except UnicodeEncodeError:
        return EXAMPLE_WORDS[:1]
    return EXAMPLE_WORDS
