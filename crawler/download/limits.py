"""Bounds on what a server may send around a body, for every download handler. Pure."""

MOST_HEAD_BYTES = 256 * 1024  # as in Chromium: no page that browsers show has more
MOST_HEAD_LINES = 1_000  # some ten times what sites send; parsing a line costs some 10 us
MOST_INFORMATIONAL = 20  # 100, 102, 103 before an answer: a slow one says 102 now and then, one or two are the rule
MOST_CHUNKS = 100_000  # of a body: some 0.5 s of parsing. Ordinary chunks have 1 to 64 KiB
LOWEST_STATUS, HIGHEST_STATUS = 100, 999  # three digits (RFC 9112, 4); some sites answer robots with 999
INFORMATIONAL = range(100, 200)
SWITCHING_PROTOCOLS = 101
IDLE_SECONDS = 30  # between two requests; Twisted's 240 s would pile up a connection for each host of four minutes
