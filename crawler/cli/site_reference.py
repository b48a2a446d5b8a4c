"""docs/site-files.md, made from the model of a site file: `scrapy site reference > docs/site-files.md`."""

from __future__ import annotations

import inspect
from dataclasses import fields
from functools import cached_property

from crawler.base.models import Fetched
from crawler.cli.file_reference import reference
from crawler.extract.field_kinds import Fields
from crawler.extract.parser import Page
from crawler.sites import Site, kinds, load

INTRODUCTION = """\
# Site files

Made from `crawler/sites/` by `scrapy site reference`; change it there.

A site is a YAML file: how a source is searched, where its results stand, what a page holds, how politely it is asked.
It lies in the folder that the setting `SITES_DIR` names, as `NAME.yaml`, and plans use it by its name. Most sites need
a quarter of this one:

```yaml
# yaml-language-server: $schema=site.schema.json
name: city_board # as the file is named, without .yaml
base: https://board.example.org # what {base} stands for below
timezone: Asia/Shanghai # of dates without a zone
identity: folded # addresses that differ in spelling alone are one page
drop_parameters: [sid] # says nothing of the page, so it is taken off addresses

headers: {Accept-Language: zh-CN} # beside the crawl's own
cookies: {over18: "1", session: "${SITE_SECRET_BOARD}"} # a secret of the operator's, by its name

search: # how words become a request
  url: "{base}/search?q={query}&page={page}&size={per_page}&sort={sort}&from={since}"
  encoding: gbk # how this board wants 洪水 in its address
  join: " AND " # 洪水 AND 救援
  paging: {kind: page, first: 0} # pages 0, 1, 2
  max_per_page: 50 # it gives no more, whatever is asked
  sort: {newest: date, relevance: score} # its words for the orders of a plan
  since_format: "%Y-%m-%d" # how it wants a plan's first day

results: # what stands on a page of results
  links: css:h2 a
  rows: css:.result # of each, more than the link is read
  fields: # what a row says, and the page perhaps not
    author: css:.by
    extra: {views: "css:.views"}
  empty: css:.nothing-found # only there where nothing was found
  empty_status: [404] # this board's answer behind the last page
  known_pages: 3 # newest first: behind so many pages without news there are none

content: # what stands on a page that a result leads to
  title: css:h1
  author: {select: css:.byline, pattern: "by (.+) on"} # several matches with `all: true`
  published: {select: css:.date, format: "%d/%m/%Y %H:%M"} # 03/04 is in April here
  content: # without it, a page fails: it was something else
    select: css:.post
    all: true
    required: true
    remove: [css:.signature, css:.share]
  images: css:.post img
  videos: css:.post video source
  extra: # fields that only this site has
    replies: css:.replies
    tags: {select: css:.tag, all: true}
  comments: # a list of records: one for each match of `each`
    each: css:ol.comments > li
    text: css:.comment-text
    author: css:.who
    published: css:time
  fetch: {pattern: '/old/(?P<id>\\d+)', url: "{base}/thread/{id}"} # old addresses stay those of their items
  joined: # a second request, made of what the page says
    - url: "{base}/users/{user}"
      values: {user: "css:.byline::attr(data-user)"}
      extra: {joined_in: "css:.since"}
  next_page: css:a[rel=next] # a thread goes on there
  max_pages: 10

follow: # which links of those pages are crawled, too
  links: css:.post a
  allow: [/thread/, /forum/]
  items: [/thread/] # the pages of /forum/ only lead on
  deny: [/print$]
  allow_domains: [archive.example.org] # besides the page's own host
  depth: 2
  per_page: 50
  per_host: 5000

render: # scripts write its threads
  content: {when: always, settle: {selector: css:.post}}

politeness: {delay: 2, concurrency: 1, burst: 10}
```

`scrapy site check FILE` names whatever is wrong with a file: line, key, value, what was expected, and the keys that may
stand there. `scrapy site check FILE URL` shows what it reads on a page. A file that is wrong is refused as a whole,
by `scrapy plan check` and `scrapy plan submit`, too: nothing of it is crawled. What can only be seen on a page (a
selector that finds nothing) is said with the key below, and by `scrapy ledger` as the reason of a failed page.

Editors that know the YAML language server complete and check keys: `scrapy site schema > site.schema.json` writes the
schema, and the first line above names it, from the file's own folder.

**Selectors** have their language in front: `css:h1`, `css:a::attr(title)`, `css:p::text`; `xpath://h1` (XPath 1.0);
`json:data.items[].url` ([JMESPath](https://jmespath.org/specification.html)), for pages of `type: json`;
`re:(?m)^Subject: (.*)` ([RE2](https://github.com/google/re2/wiki/Syntax)), for those of `type: text`; `text:` and a
phrase that a reader sees, for `results.empty`. A `json:` selector copies a value at most 16 times. Within
`results.rows`, XPath begins with a dot: `xpath:.//a`. YAML wants quotes around one
with `: ` or ` #` in it, and around a URL that begins with `{`.

Fields of HTML pages may be taken from what pages declare about themselves for search engines, too, which outlives
many a redesign: `meta:og:title` takes the `content` of a `<meta>` by its `property`, `name` or `itemprop`;
`jsonld:datePublished` and `microdata:datePublished` ask the objects of the page's JSON-LD or microdata one by one in
JMESPath, the article's or the page's own first, and take what the first one has that has anything. An object stands
for its name (`jsonld:author`), as image or video for its address (`jsonld:image`), and one that is only named by its
`@id` is looked up. Where `author` is an object on one page and a list on the next, `jsonld:[author][].name` reads
both; `jsonld:"@type" == 'Event' && location.name` asks events alone. In comments and in rows of results there are
only `css:` and `xpath:`.

**Dates** are read in 20 languages, with their zones, words for parts of the day, and years of the Persian and Buddhist
calendars; `3 hours ago`, `昨天 14:05` and epochs, too. What could be two days is none: `03/04/2026` where neither the
page's `lang` (`en` alone doesn't) nor the site's `timezone` nor the rule's `format` tells day from month,
`2 weeks ago`, or a weekday that isn't the date's. Where a page shows `3 months ago`, its `title` or `datetime` often
has the time: `css:.date::attr(title)`.

**An item of several pages** (`next_page`) has texts, lists and comments of all of them, and of single values (title,
author) the first page's that has one; its time is the first page's or none, since a later page has those of answers. A
rule with `first_page_only` is asked on the first page alone. A further page that says the same as one before ends it.
"""

HEADINGS = {
    "Site": "The site",
    "Search": "`search`",
    "PageNumbers": "`search.paging` with `kind: page`",
    "Offsets": "`search.paging` with `kind: offset`",
    "Cursors": "`search.paging` with `kind: cursor`",
    "NextLinks": "`search.paging` with `kind: link`",
    "Indexes": "`search.paging` with `kind: index`",
    "Results": "`results`",
    "RowFields": "`results.fields`",
    "Content": "`content`",
    "CommentRules": "`content.comments`",
    "Rule": "A rule: `content.title` and all other fields, under `content.extra` and `content.comments`, too",
    "Twin": "`content.fetch`",
    "Joined": "`content.joined`",
    "Follow": "`follow`",
    "Render": "`render`",
    "LoadedFrom": "`from`, under `results` and `content`",
    "Rendering": "`render.content` and `render.results`",
    "Settle": "`settle`, under `render.content` and `render.results`",
    "PageStep": "`steps`, under `render.content` and `render.results`",
    "Wait": "The step `wait`",
    "Fill": "The step `fill`",
    "Press": "The step `press`",
    "Select": "The step `select`",
    "CheckBox": "The step `check`",
    "Scroll": "The step `scroll`",
    "DialogAnswer": "The step `dialog`",
    "SetCookie": "The step `cookie`",
    "Repeat": "The step `repeat`",
    "PolitenessPart": "`politeness`",
}

PARSER = """
## A parser of your own

What selectors can't say is a function `def read(page: Page, site: Site) -> Fields`, which
`parser: package.module:function` names.
Workers must be able to import the module, and the setting `PARSER_MODULES` must list it. An error that it raises
fails the page as `parser-error`; `crawler.base.errors.ExtractError("my-reason")` fails it by a reason of yours.

```python
from crawler.extract.parser import Fields, Page
from crawler.sites import Site, kinds, load


def read(page: Page, site: Site) -> Fields:
    heading = page.tree.select_one("h1")
    return Fields(title=heading.text if heading else "", content=page.selector.css("article::text").get() or "")
```
"""


KINDS = """
## Kinds

What many places have in common needs no file of its own for each of them. Three lines make a site, and any key beside
them goes before what the kind says:

```yaml
name: city_wiki
kind: mediawiki
base: https://wiki.example.org/w
```

So does an entry of a plan, without any file: `{use: mediawiki, name: city_wiki, base: https://wiki.example.org/w}`.
`scrapy site check FILE` shows what a kind searches for and reads. Each is a file in `crawler/sites/kinds/`, in the
language of this page.

| `kind` | what it is | fields |
|---|---|---|
"""


def site_reference() -> str:
    """Returns the document."""
    return f"{INTRODUCTION}{KINDS}{_kinds()}{reference(Site, HEADINGS)}{PARSER}\n{_page()}\n{_fields()}"


def _kinds() -> str:
    rows = []
    for name in kinds.names():
        content = load(name).content
        read = ", ".join(f"`{field}`" for field in content.rules) if content else "found without selectors"
        rows.append(f"| `{name}` | {kinds.about(name)} | {read} |\n")
    return "".join(rows)


def _page() -> str:
    plain = ", ".join(f"`{field.name}`" for field in fields(Fetched))
    rows = (
        f"| `page.{name}` | {(inspect.getdoc(value) or '').splitlines()[0]} |\n"
        for name, value in vars(Page).items()
        if isinstance(value, property | cached_property)
    )
    fetched = f"{plain}, as it was fetched (`sent_on` is None, or has the addresses `asked` for and redirected `to`)"
    return f"A `Page` has {fetched}, and\n\n| attribute | |\n|---|---|\n{''.join(rows)}"


def _fields() -> str:
    names = (field.name for field in fields(Fields) if field.name not in ("missing", "truncated"))
    return f"`Fields` takes {', '.join(f'`{name}`' for name in names)}.\n"
