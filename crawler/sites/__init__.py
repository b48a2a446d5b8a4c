"""Sites: YAML that says how a source is searched and how its pages are read.

loader.py       finds and reads the files (SITES_DIR, then this folder)
model.py        Site: a checked definition and its search requests
definition.py   the parts of a definition, with the range of each value
search.py       templates, encodings
paging.py       kinds of paging
selector.py     css:, xpath: and json: selectors, compiled
css.py          CSS becomes XPath that takes linear time
simple.py       plain CSS is looked up in an index of the page
follow.py       which links of content pages are followed
"""

from crawler.sites.loader import load, names, parse
from crawler.sites.model import Site
from crawler.sites.search import SearchTarget, SiteError

__all__ = ["SearchTarget", "Site", "SiteError", "load", "names", "parse"]
