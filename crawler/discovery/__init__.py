"""Discovery: a few pages of a site become a proposal for its site file.

In: pages that somebody fetches, none of which is trusted. Out: a `SiteProposal`, with the text of a file that is valid
and what it reads on those pages. Nothing is known of a site beforehand, so all is told from structure: which links are
on a page of results and on no other one, what reading without selectors finds. Words count only where structure doesn't
say.
Read first: `site_proposer.py`, in which order the parts of a file are found out. Rooms: `pages/` (parsed, and
selectors), `search/`, `results/`, `kinds/`, `content/`.
"""

from crawler.discovery.inquiry import Visitor
from crawler.discovery.proposal import SiteProposal
from crawler.discovery.search.description import describe
from crawler.discovery.site_proposer import propose

__all__ = ["SiteProposal", "Visitor", "describe", "propose"]
