"""Which answers that came by a proxy may be the proxy's own refusal: that of one node may refuse what others get."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy.http import Response

FORBIDDEN = 403
CLIENT_ERRORS = range(400, 500)


def may_be_a_proxys(response: Response) -> bool:
    """Returns whether an answer that came by a proxy may be the proxy's own refusal."""
    return response.status == FORBIDDEN or (response.status in CLIENT_ERRORS and is_a_proxys(response))


def is_a_proxys(response: Response) -> bool:
    """Returns whether an answer says that a proxy has made it: Squid's header, or that of RFC 9209 with an error."""
    return "X-Squid-Error" in response.headers or b"error=" in (response.headers.get("Proxy-Status") or b"")
