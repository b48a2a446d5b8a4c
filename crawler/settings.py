"""This project for Scrapy: its modules, and what spiders of its own have.

What the frontier's spiders run with is in `crawl_settings.py`; each setting of the crawl, with its type, range, default
and reason, in `config.py`. Neither is repeated here. Any other spider has Scrapy's defaults, and what follows: the
words of the template of `scrapy startproject`.
"""

BOT_NAME = "headroom"
SPIDER_MODULES = ["crawler.spiders"]
NEWSPIDER_MODULE = "crawler.spiders"
COMMANDS_MODULE = "crawler.commands"
DOWNLOADER_MIDDLEWARES = {"crawler.middlewares.private_addresses.PrivateAddressMiddleware": 1_000_000}
ROBOTSTXT_OBEY = True
CONCURRENT_REQUESTS_PER_DOMAIN = 1
DOWNLOAD_DELAY = 1
FEED_EXPORT_ENCODING = "utf-8"
