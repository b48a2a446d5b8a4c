"""A general crawl of a mirror of manuals, held against the files on disk, beside Scrapy's CrawlSpider.

__main__.py      the plans, and what each is held against
manuals.py       Debian's packages of HTML manuals, unpacked, and which pages of them links lead to
mirror_server.py nginx, which serves each manual as a host of its own, and logs each request
runs.py          our consumers, killed and resumed on the way, and Scrapy's CrawlSpider
outcome.py       what a crawl came to, held against the truth
crawl_spider.py  Scrapy's CrawlSpider with its breadth-first settings
"""
