"""Sites: how a source is searched, and how its pages are read, followed and paced.

In: a site's YAML, from SITES_DIR or this folder, or its definition from Redis, which isn't trusted.
Out: a `Site`, which makes the requests of a search and holds compiled selectors for `crawler.extract`.
Read first: `model.py`, the whole of a site file; then the files of its parts, each with the range of each value.
"""

from crawler.sites.loader import load, names, parse, require_name, site_of
from crawler.sites.model import Site
from crawler.sites.search import SearchTarget
from crawler.sites.site_error import SiteError

__all__ = ["SearchTarget", "Site", "SiteError", "load", "names", "parse", "require_name", "site_of"]
