"""Where a plan's crawl ends: filters of addresses, which a plan's key `scope` or the setting URL_FILTERS asks for."""
