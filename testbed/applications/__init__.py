"""Real applications to crawl that this project hasn't written, filled with the articles of `articles.py`.

In: a folder. Out: a server at its `url`, and `truth()`: what the application itself has, from its database or API, for
whoever compares a crawl with it. They are packages of Debian, Python and npm, run by the user who starts them, on
loopback.
"""

from testbed.applications.application import Application
from testbed.applications.docsify import Docsify
from testbed.applications.dokuwiki import DokuWiki
from testbed.applications.fossil import Fossil
from testbed.applications.mediawiki import MediaWiki
from testbed.applications.page import Remark, TruePage
from testbed.applications.sphinx import Sphinx
from testbed.applications.trac import Trac
from testbed.applications.wordpress import WordPress

APPLICATIONS: dict[str, type[Application]] = {
    kind.NAME: kind for kind in (MediaWiki, DokuWiki, WordPress, Trac, Fossil, Sphinx, Docsify)
}

__all__ = [
    "APPLICATIONS",
    "Application",
    "Docsify",
    "DokuWiki",
    "Fossil",
    "MediaWiki",
    "Remark",
    "Sphinx",
    "Trac",
    "TruePage",
    "WordPress",
]
