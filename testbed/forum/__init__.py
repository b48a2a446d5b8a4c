"""A small forum to crawl: the demo's first run and the fixture of the end-to-end tests.

Same threads on every start, no network, no clock. `python -m testbed.forum --port 0` serves it on loopback.

    words.yaml    what the threads are made of
    kinds.py      the odd pages, and what a right crawl makes of each
    content.py    the threads and the search: the truth that a crawl is compared with
    pages.py      HTML: index, search results, threads
    shell.py      HTML: the AJAX board's pages, which are empty until their script has run
    files.py      images, videos, the file that isn't HTML
    query.py      a request's query, byte for byte
    routes.py     path and query -> answer
    server.py     HTTP/1.1 by Twisted, access log
"""
