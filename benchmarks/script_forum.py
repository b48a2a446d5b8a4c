"""The forum of `side_by_side`, built by a script: each page is the same empty shell, which loads a thread as JSON.

What stands on a page once its script has run is what `side_by_side/pages.py` has for its number, so the same site file
and the same checks hold for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from benchmarks.side_by_side import pages

if TYPE_CHECKING:
    from pathlib import Path

EDITION = 1  # of what is written; changed with it, so that what is old is made anew
# Every thread's address brings the shell; the threads themselves lie below /data.
REWRITE = "rewrite ^/thread/.*$ /shell.html break;"
DONE = "main.done"  # CSS, of a page whose script has ended
SHELL = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Riverside Forum</title><link rel="stylesheet" href="/forum.css">
</head><body><div id="app"></div><script src="/forum.js"></script></body></html>
"""
STYLE = ".post{display:flex;margin:1em}.side{width:10em}.related li{list-style:square}\n"
# Builds the page element by element, as frameworks do; the avatars are for contenders to leave out.
SCRIPT = """
const make = (name, attributes, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
};
const link = (kind, href, text) => make("a", {class: kind, href}, text);
fetch(location.pathname.replace(/^\\/thread/, "/data").replace(".html", ".json"))
  .then((answer) => answer.json())
  .then((thread) => {
    document.title = thread.title + " - Riverside Forum";
    document.getElementById("app").append(make("main", {},
      link("section", "/section", thread.section),
      make("h1", {class: "title"}, thread.title),
      link("author", "/user", thread.posts[0].author),
      make("time", {datetime: thread.published}, thread.published.slice(0, 10)),
      make("span", {class: "views"}, thread.views),
      make("div", {class: "tags"}, ...thread.tags.map((tag) => link("tag", "/tag", tag))),
      make("div", {class: "posts"}, ...thread.posts.map((post, place) => make("div", {class: "post"},
        make("div", {class: "side"}, make("img", {src: `/avatar/${thread.number}-${place}.png`}), post.author),
        make("div", {class: "post-body"}, ...post.paragraphs.map((text) => make("p", {}, text)))))),
      make("aside", {class: "related"}, ...thread.links.map((to) => link("", to, "Thread")))));
    document.querySelector("main").className = "done";
  });
"""


def write(folder: Path, number: int) -> None:
    """Writes the shell, its script and the first `number` threads below a folder, unless they are there."""
    stamp = folder / f".written-{EDITION}"
    if stamp.exists() and int(stamp.read_text()) >= number:
        return
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("shell.html", SHELL), ("forum.css", STYLE), ("forum.js", SCRIPT)):
        (folder / name).write_text(text, encoding="utf-8")
    for index in range(number):
        file = folder / pages.path(index)[1:].replace("thread/", "data/", 1).replace(".html", ".json")
        if index % pages.FOLDER_PAGES == 0:
            file.parent.mkdir(parents=True, exist_ok=True)
        thread = pages.thread(index)
        posts = [{"author": post.author, "paragraphs": post.paragraphs} for post in thread.posts]
        told = {name: getattr(thread, name) for name in ("number", "title", "section", "published", "tags", "views")}
        file.write_bytes(orjson.dumps(told | {"posts": posts, "links": [pages.path(to) for to in thread.links]}))
    stamp.write_text(str(number))
