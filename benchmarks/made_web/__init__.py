"""A made web of a million pages, of which the last 10,000 are crawled: does a seed cost more, the more there are?

__main__.py   the measurement
web.py        what stands on each page, as a function of its number
web_server.py serves the pages of all hosts, and logs when each was asked for
frontier.py   brings a frontier to where the crawl is to go on, by the frontier's own calls
"""
