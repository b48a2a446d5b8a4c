"""Sites of a kind: software that many run, feeds and sitemaps."""
