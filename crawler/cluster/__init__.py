"""The whole crawl as figures: what the monitor, `scrapy top` and the metrics show, gathered once, at a bounded cost."""
