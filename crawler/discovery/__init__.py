"""Discovery: a few pages of a site become a proposal for its site file.

In: pages that somebody fetches, none of which is trusted. Out: a `SiteProposal`, with the text of a file that is valid
and what it reads on those pages. Nothing is known of a site beforehand, so all is told from structure: which links are
on a page of results and on no other one, which blocks differ between two pages. Words count only where structure
doesn't say.
Read first: `proposing.py`, in which order the parts of a file are found out.
"""

from crawler.discovery.description import describe
from crawler.discovery.proposal import SiteProposal
from crawler.discovery.proposing import propose
from crawler.discovery.visitor import Visitor

__all__ = ["SiteProposal", "Visitor", "describe", "propose"]
