"""Which parser reads pages best? libxml2 (lxml, parsel), lexbor (selectolax) and turbohtml, held side by side.

    .venv/bin/python -m pip install --target /tmp/readers selectolax turbohtml     # no dependencies of this project
    PYTHONPATH=/tmp/readers .venv/bin/python -m benchmarks.readers trees FOLDER    # html5lib's tree-construction/*.dat
    PYTHONPATH=/tmp/readers .venv/bin/python -m benchmarks.readers selectors
    PYTHONPATH=/tmp/readers .venv/bin/python -m benchmarks.readers bounds
    PYTHONPATH=/tmp/readers .venv/bin/python -m benchmarks.readers cpu
    PYTHONPATH=/tmp/readers .venv/bin/python -m benchmarks.readers mutated --pages 100000

`trees` counts the documents whose elements, attributes and texts are those that the HTML standard demands, comments
and namespaces aside. `selectors` holds what turbohtml selects against parsel, by the forms that site files have,
on saved, generated and mutated pages; both get the same tree, turbohtml's, so that only selectors differ. `bounds`
reads documents made to take long, each in a process of its own. `mutated` reads broken pages in processes that may
crash, and makes each that kills one as small as it can be.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import resource
import signal
import statistics
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import parsel
import turbohtml
from lxml import etree
from selectolax.lexbor import LexborHTMLParser  # type: ignore[import-not-found, unused-ignore]
from turbohtml.convert import css_to_xpath

from benchmarks.side_by_side import pages

if TYPE_CHECKING:
    from collections.abc import Callable

SAVED = Path(__file__).parent.parent / "tests" / "sites" / "pages"
MEMORY_BYTES = 2 << 30  # of addresses, for a process that reads hostile pages
READ_SECONDS = 30  # after which a page counts as one that never ends
SMALL_BYTES = 40_000  # larger pages aren't mutated, since each takes as long as several
TRIED_ON_A_PAGE = 20  # selectors, of a mutated page
PAGES_A_PROCESS = 2_000
ROUNDS = 7


# Trees, each as a list of "<tag", "name=value", texts and ">".


def by_libxml2(data: str) -> list[str]:
    """Returns lxml's tree of a page."""
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    root = etree.fromstring(data.encode("utf-8", "replace"), parser) if data.strip() else None
    found: list[str] = []

    def walk(element: Any) -> None:
        found.append(f"<{element.tag}")
        found.extend(sorted(f"{name}={value}" for name, value in element.items()))
        found.append(element.text or "")
        for child in element:
            walk(child)
            found.append(child.tail or "")
        found.append(">")

    if root is not None:
        walk(root)
    return found


def by_lexbor(data: str) -> list[str]:
    """Returns lexbor's tree of a page."""
    found: list[str] = []

    def walk(node: Any) -> None:
        if node.is_text_node:
            found.append(node.text_content or "")
        elif node.is_element_node:
            found.append(f"<{node.tag}")
            found.extend(sorted(f"{name}={value or ''}" for name, value in node.attributes.items()))
            for child in node.iter(include_text=True):
                walk(child)
            found.append(">")

    root = LexborHTMLParser(data).root
    if root is not None:
        walk(root)
    return found


def by_turbohtml(data: str) -> list[str]:
    """Returns turbohtml's tree of a page."""
    found: list[str] = []

    def walk(node: Any) -> None:
        if isinstance(node, turbohtml.Text):
            found.append(node.data)
        elif isinstance(node, turbohtml.Element):
            found.append(f"<{node.tag}")
            found.extend(sorted(f"{name}={node.attr(name)}" for name in node.attrs))
            for child in node:
                walk(child)
            found.append(">")
        elif isinstance(node, turbohtml.DocumentFragment):
            for child in node:
                walk(child)

    for child in turbohtml.parse(data, positions=False):
        walk(child)
    return found


READERS: dict[str, Callable[[str], list[str]]] = {
    "libxml2": by_libxml2,
    "lexbor": by_lexbor,
    "turbohtml": by_turbohtml,
}


def demanded(document: str) -> list[str]:
    """Returns the tree that a test of html5lib demands."""
    found: list[str] = []
    opened: list[tuple[int, str]] = []
    attributes: list[str] = []
    for line in re.split(r"\n(?=\| )", document):
        if not line.startswith("| "):
            continue
        depth = len(line) - len(line[2:].lstrip(" ")) - 2
        what = line[2 + depth :]
        is_attribute = re.match(r'^[^"<][^"]*="', what, re.DOTALL) and what != "content"
        if is_attribute:
            name, _, value = what.partition('="')
            attributes.append(f"{name.replace(' ', ':')}={value[:-1]}")
            continue
        found += sorted(attributes)
        attributes = []
        while opened and opened[-1][0] >= depth:
            found.append(opened.pop()[1])
        if what.startswith('"'):
            found.append(what[1:-1])
        elif what.startswith("<") and not what.startswith(("<!", "<?")):
            found.append(f"<{what[1:-1].rpartition(' ')[2]}")
            opened.append((depth, ">"))
        elif what == "content":
            opened.append((depth, ""))
    return found + sorted(attributes) + [end for _, end in reversed(opened)]


def joined(found: list[str]) -> list[str]:
    """Returns a tree whose texts that touch are one, and without an empty head, which libxml2 doesn't imply."""
    out: list[str] = []
    is_text = False
    for part in found:
        marks = part == ">" or re.match(r"<[^\s<>]+$", part) or (not is_text and re.match(r"[^\s]+=", part))
        if not part:
            continue
        if is_text and not marks:
            out[-1] += part
        else:
            out.append(part)
        is_text = not marks
    return out[:1] + out[3:] if out[1:3] == ["<head", ">"] else out


def trees(folder: Path) -> None:
    """Prints how many documents each reader parses as the standard demands, and where it doesn't."""
    right: Counter[str] = Counter()
    wrong: dict[str, Counter[str]] = {name: Counter() for name in READERS}
    documents = 0
    for file in sorted(folder.glob("*.dat")):
        for test in ("\n" + file.read_text(encoding="utf-8", errors="surrogatepass")).split("\n#data\n")[1:]:
            data, _, rest = test.partition("\n#errors\n")
            options, _, document = f"\n{rest}".partition("\n#document\n")
            if "#document-fragment" in options or "#script-on" in options:
                continue
            documents += 1
            wanted = joined(demanded(document.rstrip("\n")))
            for name, reader in READERS.items():
                if joined(reader(data)) == wanted:
                    right[name] += 1
                else:
                    wrong[name][file.stem] += 1
    print(f"{documents} documents")
    for name in READERS:
        print(f"{name:10} {right[name]:6,} equal, {documents - right[name]:5,} not: {dict(wrong[name].most_common(8))}")


# Selectors.

FORMS = """
h1 | h1.title | .meta .author | #firstHeading | #mw-normal-catlinks li a | div.post p | div > p | ul > li > a
| h1 + p | h2 ~ p | a.x.y | p#i1.x | * | *.x | div *, p | a, area | h1, h2, .x | [href] | a[href] | a[href="/new"]
| a[href^="/"] | a[href$=".html"] | a[href*=thread] | [class~=x] | [lang|=en] | a[href!="/new"] | [href="/NEW" i]
| [type=SUBMIT] | [data-id] | [title=""] | [class^=""] | li:first-child | li:last-child | li:only-child
| p:first-of-type | p:last-of-type | p:only-of-type | li:nth-child(2) | li:nth-child(2n+1) | li:nth-child(odd)
| li:nth-child(-n+2) | li:nth-last-child(2) | p:nth-of-type(2) | p:nth-last-of-type(1) | p:empty | div:empty | :root
| :scope > body | :not(p) | a:not(.x) | a:not([href]) | div:not(.x):not(.y) | :not(.x, .y) | p:has(a) | div:has(> a)
| p:has(+ p) | div:has(.x, a) | :is(h1, h2) a | :where(.x, .y) | :is(.x) > :is(a, b) | p:contains("x")
| p:contains(x) | input:checked | :disabled | :enabled | a:link | a:visited | a:hover | :lang(en) | *|a | svg|a
| .a\\.b | #\\31 | DIV | P.x | .X | [HREF] | td | tr > td | tr:first-child td | table td | tbody > tr | thead th
| noscript img | template p | svg | svg a | video source | select option | meta[name=viewport]
| meta[property="og:title"] | time[datetime] | link[rel=next] | head > title | title | script | body
"""
XPATHS = """
//h1 | //h1/text() | //a/@href | (//a)[1] | //a[2]/@href | //*[@id='x']//p | //p[last()] | //li[position() < 3]
| //p[a] | //a[contains(@href, 'thread')] | //a[starts-with(@href, '/')]/text() | //div[not(@class)]
| //text()[normalize-space()] | string(//title) | normalize-space(//h1) | count(//a) | number(//td) | boolean(//p)
| sum(//li) | concat(//h1, ' - ', //title) | substring-after(//title, '-') | substring-before(//title, '-')
| substring(//title, 2, 3) | string-length(//h1) | translate(//h1, 'abc', 'ABC') | //a/../@class
| //p/preceding-sibling::*[1] | //p/following::a[1] | //a/ancestor::div[1] | //a/ancestor-or-self::*[@class][1]
| //*[self::h1 or self::h2] | //p | //div | //h1/following-sibling::node() | //comment()
| //processing-instruction() | //p/node() | //@* | //@class | /html/body | /html/head/title/text() | //body/*[2]
| id('x') | //*[lang('en')] | //tr/td[1] | //table/tr | //tbody/tr | name(//*[3]) | local-name(//*[3])
| namespace-uri(//body) | //svg | //*[name()='svg'] | //*[local-name()='svg'] | //A | //h1/@CLASS | 1 div 0
| -1 div 0 | 0 div 0 | 1 = 1 | 'a' < 'b' | 7 mod 3 | -7 mod 3 | round(-0.5) | floor(2.5) | 1000000000000000000000
| 0.000001 | string(0.1 + 0.2) | string(1 div 3) | string(1e3) | //*[count(*) > 3] | //a[@href][1]/@href
| //a[@href='/new']/@href | re:test('a', 'a') | //*[re:test(@class, 'x')] | current() | document('x')
| key('a', 'b') | //*[has-class('x')] | //p/namespace::* | //a[position() mod 2 = 1] | //*[@class and @href]
| //li[not(position() = last())] | //p[.='x'] | //p[text()='x'] | //a[string-length(@href) > 3] | //noscript//img
| //template//p | //p[$x] | //ns:p | //*[contains(concat(' ', normalize-space(@class), ' '), ' x ')] | descendant::p
| .//p | p | //body//p[1] | //p/text()[1]
"""
ENDS = ("", "::text", "::attr(href)", "::attr(class)")
MUTATIONS = (
    "<p>",
    "</p>",
    "<div class='x y'>",
    "</div>",
    "<a href=/new>",
    "</a>",
    "<table><tr><td>",
    "</table>",
    "<li>",
    "<b class=x>",
    "</b>",
    "<!--c-->",
    "<svg><a href=x>",
    "</svg>",
    "<template><p>",
    "</template>",
    "<select><option>",
    "</select>",
    "<h1 id=x lang=en-GB>",
    "&amp;",
    "\u00a0",
    "<noscript><img src=x>",
    "</noscript>",
    "<input type=SUBMIT disabled>",
    "<p title=''>",
    "<a class='a.b x'>",
    "<br>",
    "<font>",
    "<form>",
    "\x0b",
    "<script>",
    "</script>",
    "\r\n",
    "<title>",
    "</title>",
    "<p CLASS=X>",
    "<video><source src=v>",
)


def sources() -> list[bytes]:
    """Returns the saved pages of all sites, and generated ones."""
    saved = [file.read_bytes() for file in sorted(SAVED.glob("*/*/page.html"))]
    return saved + [pages.html(pages.thread(number)).encode() for number in range(len(saved))]


def mutated(page: bytes, dice: random.Random, most: int = 8) -> bytes:
    """Returns a page with pieces put in, cut out and repeated."""
    data = bytearray(page)
    for _ in range(dice.randint(1, most)):
        at, kind = dice.randrange(len(data) + 1), dice.random()
        if kind < 0.6:  # noqa: PLR2004 -- shares
            data[at:at] = dice.choice(MUTATIONS).encode()
        elif kind < 0.8:  # noqa: PLR2004
            del data[at : at + dice.randint(1, 300)]
        else:
            data[at:at] = data[at : at + dice.randint(1, 300)]
    return bytes(data)


def forms(text: str) -> list[str]:
    """Returns the entries of a list."""
    return [entry for part in text.strip().replace("\n| ", " | ").split(" | ") if (entry := part.strip())]


def lxml_tree(node: Any, of: dict[Any, Any]) -> Any:
    """Returns a copy of turbohtml's tree in lxml, and enters each element's number by its copy."""
    element = etree.Element(node.tag, {name: node.attr(name) or "" for name in node.attrs})
    of[element] = of[node] = len(of)
    last = None
    children = [one for child in node for one in (child if isinstance(child, turbohtml.DocumentFragment) else [child])]
    for child in children:  # of a template, whose selectors find its content as other elements
        if isinstance(child, turbohtml.Text):
            if last is None:
                element.text = (element.text or "") + child.data
            else:
                last.tail = (last.tail or "") + child.data
        elif isinstance(child, turbohtml.Element):
            last = lxml_tree(child, of)
            element.append(last)
        elif isinstance(child, turbohtml.Comment):
            last = etree.Comment(child.data.replace("--", "- -").rstrip("-"))
            element.append(last)
    return element


def by_select(document: Any, css: str, end: str) -> list[Any]:
    """Returns what turbohtml finds for a selector with parsel's endings."""
    found = document.select(css)
    if not end:
        return list(found)
    if end == "::text":
        paths = " | ".join(f"{part}/text()" for part in css_to_xpath(css).split(" | "))
        return [str(one) for one in turbohtml.XPath(paths)(document)]
    name = end.removeprefix("::attr(")[:-1]
    return [value for one in found if (value := one.attr(name)) is not None]


def by_parsel(selector: parsel.Selector, css: str) -> list[Any]:
    """Returns the elements and strings that parsel finds."""
    return [one.root for one in selector.css(css)]


def outcome(run: Callable[[], Any], numbers: dict[Any, int]) -> Any:
    """Returns what was found, elements as their numbers; "refused" for an error."""
    try:
        found = run()
    except Exception:  # noqa: BLE001 -- each reader raises its own
        return "refused"
    if not isinstance(found, list):
        return found
    return [numbers[one] if one in numbers else one if isinstance(one, str) else "node" for one in found]


def selectors(count: int) -> None:
    """Prints which selectors find something else than parsel's, and on how many of the pages where they were tried."""
    dice, whole = random.Random(3), sources()
    small = [page for page in whole if len(page) < SMALL_BYTES]
    tried: Counter[str] = Counter()
    differ: Counter[str] = Counter()
    for number in range(len(whole) + count):
        is_whole = number < len(whole)
        document = turbohtml.parse(whole[number] if is_whole else mutated(dice.choice(small), dice), encoding="utf-8")
        numbers: dict[Any, int] = {}
        try:
            root = lxml_tree(document.root, numbers)
        except ValueError:
            continue  # a name that lxml doesn't take
        theirs = parsel.Selector(root=root, type="html")
        cases = [(css, end) for css in forms(FORMS) for end in ENDS]
        for css, end in cases if is_whole else dice.choices(cases, k=TRIED_ON_A_PAGE):
            text = ", ".join(part + end for part in css.split(", ")) if "(" not in css else css + end
            tried[css] += 1
            found = outcome(partial(by_select, document, css, end), numbers)
            wanted = outcome(partial(by_parsel, theirs, text), numbers)
            differ[css] += found != wanted
        for path in forms(XPATHS) if is_whole else dice.choices(forms(XPATHS), k=TRIED_ON_A_PAGE):
            tried[path] += 1
            found = outcome(partial(document.xpath, path), numbers)
            wanted = outcome(partial(root.xpath, path, smart_strings=False), numbers)
            differ[path] += found != wanted and (found == found or wanted == wanted)  # noqa: PLR0124 -- not both NaN
    print(f"{tried.total():,} comparisons on {len(whole)} pages and {count:,} mutated ones; these differ:")
    for text, times in differ.most_common():
        if times:
            print(f"{times:6,} of {tried[text]:6,}  {text}")


# Bounds.

DOCUMENTS = {
    "100,000 attributes": b"<p " + b" ".join(b"a%d=1" % number for number in range(100_000)) + b">x",
    "100,000 <div> deep": b"<div>" * 100_000,
    "100,000 <a>": b"<a>" * 100_000,
    "50,000 <table><td>": b"<table><td>" * 50_000,
    "<b>, 100,000 <p></b>": b"<b>" + b"<p></b>" * 100_000,
    "33,000 <i><div></i>": b"<i><div></i>" * 33_000,
    "100,000 <option>": b"<select>" + b"<option>" * 100_000,
    "<table>, 50,000 x<b>": b"<table>" + b"x<b>" * 50_000,
    "comment of 10 MB": b"<!--" + b"-" * 10_000_000,
    "10 MB of <": b"<" * 10_000_000,
    "32 MiB of posts": b"<p class=post>text " * (32 * 2**20 // 19),
}


def isolated(run: Callable[[], str], seconds: int = READ_SECONDS) -> str:
    """Runs in a process with limits; returns what it says, or the signal that ended it."""
    out, into = os.pipe()
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        signal.alarm(seconds)
        try:
            os.write(into, run().encode())
        except MemoryError:
            os.write(into, b"out of memory")
        os._exit(0)
    os.close(into)
    status = os.waitpid(child, 0)[1]
    with os.fdopen(out, "rb") as file:
        return file.read().decode() if not status else signal.Signals(os.waitstatus_to_exitcode(status) * -1).name


def bounds() -> None:
    """Prints how long each reader takes for documents made to take long, and the peak of its memory."""
    base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for name, page in DOCUMENTS.items():
        for reader, parse in PARSERS.items():

            def run(parse: Any = parse, page: bytes = page) -> str:
                begun = time.process_time()
                kept = parse(page)
                taken = time.process_time() - begun
                peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - base) >> 10
                return f"{taken:.3f} s, {peak} MiB more" if kept is not None else "nothing"

            print(f"{name:24} {reader:10} {isolated(run)}", flush=True)


# CPU.

SELECTED = ("h1.title", "a.author", "time", "a.section", "a.tag", "span.views", ".post-body p", ".related a")
PARSERS: dict[str, Callable[[bytes], Any]] = {
    "libxml2": lambda page: etree.fromstring(page, etree.HTMLParser(encoding="utf-8", huge_tree=True)),
    "lexbor": LexborHTMLParser,
    "turbohtml": lambda page: turbohtml.parse(page, encoding="utf-8", positions=False),
}


def selected(parse: Callable[[bytes], Any], select: str, page: bytes) -> list[Any]:
    """Parses a page and runs all selectors."""
    run = getattr(parse(page), select)
    return [run(css) for css in SELECTED]


def values(parse: Callable[[bytes], Any], select: str, text: Callable[[Any], str], page: bytes) -> list[list[str]]:
    """Parses a page and reads the text of all elements that the selectors find."""
    run = getattr(parse(page), select)
    return [[text(element) for element in run(css)] for css in SELECTED]


def cpu() -> None:
    """Prints CPU us a page, the least and the median of some rounds that the readers take in turns."""
    fetched = [pages.html(pages.thread(number)).encode() for number in range(200)]
    steps: dict[str, Callable[[bytes], Any]] = {f"parse, free: {name}": parse for name, parse in PARSERS.items()}
    steps["parse, 8 selectors: parsel"] = partial(
        selected, lambda page: parsel.Selector(body=page, encoding="utf-8"), "css"
    )
    steps["parse, 8 selectors: lexbor"] = partial(selected, PARSERS["lexbor"], "css")
    steps["parse, 8 selectors: turbohtml"] = partial(selected, PARSERS["turbohtml"], "select")
    steps["to texts: parsel"] = partial(
        values,
        lambda page: parsel.Selector(body=page, encoding="utf-8"),
        "css",
        lambda one: "".join(one.css("::text").getall()),
    )
    steps["to texts: lexbor"] = partial(values, PARSERS["lexbor"], "css", lambda one: one.text())
    steps["to texts: turbohtml"] = partial(values, PARSERS["turbohtml"], "select", lambda one: one.text)
    taken: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(ROUNDS):
        for name, step in steps.items():
            begun = time.process_time()
            for page in fetched:
                step(page)
            taken[name].append((time.process_time() - begun) / len(fetched) * 1e6)
    for name, times in taken.items():
        print(f"{name:32} {min(times):7.1f} {statistics.median(times):7.1f}")


# Broken pages.


def survivors(count: int) -> None:
    """Reads mutated pages with turbohtml, thousands in a process, and prints each page that kills one, made small."""
    originals, crashes = [page for page in sources() if len(page) < SMALL_BYTES], 0

    def page_of(number: int) -> bytes:
        dice = random.Random(number)
        return mutated(dice.choice(originals), dice, most=20)

    def read(page: bytes) -> str:
        document = turbohtml.parse(page, encoding="utf-8", positions=False)
        return str(len(document.select("*")) + len(document.select("div > a, p b")) + len(document.text))

    for first in range(0, count, PAGES_A_PROCESS):
        numbers = range(first, min(count, first + PAGES_A_PROCESS))
        if isolated(lambda numbers=numbers: str([read(page_of(number)) for number in numbers])[:1]) == "[":
            continue
        for number in numbers:
            if isolated(lambda number=number: read(page_of(number))).isdigit():
                continue
            crashes += 1
            print(number, smallest(page_of(number), lambda page: not isolated(partial(read, page)).isdigit()))
    print(f"{count:,} pages, {crashes} crashes")


def smallest(page: bytes, is_wrong: Callable[[bytes], bool]) -> bytes:
    """Returns as little of a page as is still wrong, by leaving out one tag or text after the other."""
    parts = re.findall(rb"<[^>]*>|[^<]+|<", page)
    size = len(parts)
    while size:
        size //= 2
        at = 0
        while at < len(parts):
            shorter = parts[:at] + parts[at + max(1, size) :]
            if is_wrong(b"".join(shorter)):
                parts = shorter
            else:
                at += max(1, size)
    return b"".join(parts)


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("part", choices=("trees", "selectors", "bounds", "cpu", "mutated"))
    options.add_argument("folder", nargs="?", type=Path, help="of html5lib's tree-construction tests, for trees")
    options.add_argument("--pages", type=int, default=10_000, help="mutated pages")
    given = options.parse_args()
    if given.part == "trees":
        trees(given.folder)
    elif given.part == "selectors":
        selectors(given.pages)
    elif given.part == "mutated":
        survivors(given.pages)
    else:
        {"bounds": bounds, "cpu": cpu}[given.part]()
