"""What the crawl did and does, as figures over time: kept in Redis by workers, read by whoever shows it."""
