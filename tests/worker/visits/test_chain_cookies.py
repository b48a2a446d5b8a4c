"""Whose cookie counts where a site, its page or a redirect have some of one name."""

from __future__ import annotations

import pytest

from crawler.worker.visits.chain_cookies import joined_cookies


@pytest.mark.parametrize(
    ("of_the_site", "of_the_page", "sent"),
    [
        ("over18=1", "sid=7; theme=dark", "over18=1; sid=7; theme=dark"),
        ("over18=1; session=aaa", "session=evil; sid=7", "over18=1; session=aaa; sid=7"),
        ("", "sid=7", "sid=7"),  # what the site's file has isn't for this host
    ],
)
def test_a_rendered_page_keeps_its_cookies_beside_those_of_its_site(of_the_site, of_the_page, sent):
    assert joined_cookies(of_the_site, of_the_page) == sent
