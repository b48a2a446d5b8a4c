"""The whole crawl as figures: what the monitor, the commands and the metrics show, gathered once, at a bounded cost."""
