"""The AJAX board: pages that are empty until their script has run, and the JSON that the script asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from testbed.forum import pages
from testbed.forum.content import Thread, video_path

if TYPE_CHECKING:
    from collections.abc import Sequence

_HEAD = '<!DOCTYPE html><html lang="zh"><head><meta charset="utf-8"><title>AJAX board</title></head><body>'

LIST_PAGE = (
    _HEAD
    + """<nav><a href="/">首页</a></nav><h1>AJAX board</h1>
<form><input name="q"><button>搜索</button></form><ol class="results"></ol>
<script>
const list = document.querySelector("ol"), query = new URLSearchParams(location.search).get("q") || "";
async function more(offset) {
  const answer = await (await fetch("/api/search?q=" + encodeURIComponent(query) + "&offset=" + offset)).json();
  for (const item of answer.items) {
    const link = document.createElement("a");
    link.href = item.page_url;
    link.textContent = item.title;
    list.appendChild(document.createElement("li")).appendChild(link);
  }
  if (answer.next_offset !== null) await more(answer.next_offset);
}
more(0);
</script></body></html>"""
)

# Words go into a field, and more results come by a button: neither is ever in an address.
BROWSE_PAGE = (
    _HEAD
    + """<nav><a href="/">首页</a></nav><h1>AJAX board</h1>
<input name="q"><button class="find">搜索</button><ol class="results"></ol><button class="more" hidden>更多</button>
<script>
const list = document.querySelector("ol"), button = document.querySelector(".more");
let offset = 0;
async function more() {
  const words = encodeURIComponent(document.querySelector("input").value);
  const answer = await (await fetch("/api/search?limit=1&q=" + words + "&offset=" + offset)).json();
  for (const item of answer.items) {
    const link = document.createElement("a");
    link.href = item.page_url;
    link.textContent = item.title;
    list.appendChild(document.createElement("li")).appendChild(link);
  }
  offset = answer.next_offset;
  button.hidden = offset === null;
}
button.onclick = more;
document.querySelector(".find").onclick = () => { offset = 0; list.replaceChildren(); more(); };
</script></body></html>"""
)

THREAD_PAGE = (
    _HEAD
    + """<nav><a href="/ajax/">AJAX board</a></nav><h1 class="title"></h1><span class="author"></span>
<time class="published"></time><div class="posts"></div>
<script>
const at = (name) => document.querySelector("." + name);
async function show(url) {
  const answer = await (await fetch(url)).json();
  at("title").textContent = answer.title;
  at("author").textContent = answer.author;
  at("published").textContent = new Date(answer.created).toISOString();
  at("posts").insertAdjacentHTML("beforeend", answer.html);
  for (const url of answer.images) at("posts").appendChild(document.createElement("img")).src = url;
  if (answer.next) await show(answer.next);
}
show("/api/thread/" + location.pathname.split("/").pop());
</script></body></html>"""
)


def results(found: Sequence[Thread]) -> list[dict[str, Any]]:
    """Returns threads as the search's JSON has them: `url` leads to the thread as JSON, `page_url` to its page."""
    return [
        {
            "id": thread.id,
            "title": thread.title,
            "author": thread.author,
            "created": thread.created_ms,
            "url": thread.path,
            "page_url": f"/ajax/thread/{thread.id}",
        }
        for thread in found
    ]


def thread_json(thread: Thread, page: int, origin: str) -> dict[str, Any]:
    """Returns a page of a thread as JSON; `created` is in ms since the epoch, `next` is the next page's URL or null."""
    last = len(thread.pages)
    return {
        "id": thread.id,
        "title": thread.title,
        "author": thread.author,
        "created": thread.created_ms,
        "page": page,
        "pages": last,
        "next": f"{thread.path}?page={page + 1}" if page < last else None,
        "html": pages.body_html(thread, thread.pages[page - 1]),
        "images": pages.image_urls(thread, page, origin),
        "video": video_path(thread.video) if thread.video is not None and page == 1 else None,
    }
