"""The link to the next page is found by what it says, or by the arrow that it has in place of words."""

from __future__ import annotations

from discovery.made_up import ORIGIN, page

from crawler.base.models import Fetched
from crawler.discovery.page import ParsedPage

ADDRESS = f"{ORIGIN}/topic/7/flood/"


def parsed(links, address=ADDRESS):
    return ParsedPage(Fetched(address, 200, "text/html", page("Flood", f'<a href="/help">Help</a>{links}').encode()))


ARROWS = (
    "<ul class=crumbs><li><a href=/>Main</a><i class='fa fa-chevron-right'></i></li></ul><ul class=pages><li>Page 1 of "
    "3</li><li><a href='?page=2'><i class='fa fa-chevron-right'></i></a></li><li><a href='?page=3'>Last <i class='fa "
    "fa-chevron-right'></i></a></li></ul>"
)
