"""A small forum to crawl, for the demo and many tests. `python -m testbed.forum` serves it on loopback.

In: words.yaml, of which the same threads are made in every process. Out: their pages over HTTP, and the truth that a
crawl is compared with. Read content.py first.

    content.py    the threads and the search: the truth
    kinds.py      the threads whose pages misbehave, and what a right crawl makes of them
    routes.py     path and query -> response
    pages.py      HTML of the first board: index, search results, threads
    ajax.py       the second board: empty HTML that a script fills, and the script's JSON
    files.py      images, videos, the file that isn't HTML, the endless page
    query.py      a request's query, byte for byte
    server.py     HTTP/1.1 by Twisted, and the access log
"""
