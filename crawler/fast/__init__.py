"""Scrapy's engine in less processor time: a Scrapy add-on that imports nothing else of this project.

In: `ADDONS = {"crawler.fast.addon.FastEngine": 1000}` in a project's settings; FAST_ENGINE=False switches it off.
Out: the same items, statistics and signals as on Scrapy's own engine; what this package doesn't replace is Scrapy's.
Read first: `addon.py`, which lists what is replaced, then `engine.py`, which shows a request's way.
"""
