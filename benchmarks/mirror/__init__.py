"""A general crawl of a mirror of manuals, held against the files on disk, beside Scrapy's CrawlSpider.

__main__.py      the runs, and what each is held against
manuals.py       Debian's packages of HTML manuals, unpacked, and which pages of them links lead to
mirror_server.py nginx, which serves each manual as a host of its own, and logs each request
crawl_spider.py  Scrapy's CrawlSpider with its breadth-first settings
"""
