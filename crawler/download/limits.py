"""Bounds on what a server may send around a body, beside libcurl's own. Pure."""

MAX_HEAD_BYTES = 256 * 1024  # the longest head of an answer, as in Chromium: no page that browsers show has more
MAX_HEAD_LINES = 1_000  # most lines of a head, some ten times what sites send; parsing a line costs up to 10 us
MAX_INFORMATIONAL = 20  # most 1xx responses before the final one: one or two are the rule, a slow server may repeat 102
MAX_CHUNKS = 100_000  # most chunks of a body, parsed in some 0.5 s; ordinary ones have 1 to 64 KiB
INFORMATIONAL = range(100, 200)
SWITCHING_PROTOCOLS = 101
# These statuses have no body, whatever their Content-Length says (RFC 9110, 6.4.1)
WITHOUT_BODY = frozenset({204, 304})
