"""robots.txt by RFC 9309, asked for once by the whole cluster.

In: the authority of a URL, and a visit on whose turn its robots.txt may be fetched. Out: its rules, or that it can't be
reached for now; a Crawl-delay becomes the delay of the host's turns.
Read `finder.py` first: it looks in memory (`cache.py`), in Redis (`shared.py`), and asks the host. `rules.py` parses.
"""
