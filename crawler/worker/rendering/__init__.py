"""Which pages a browser of this worker renders, and how many at once."""
