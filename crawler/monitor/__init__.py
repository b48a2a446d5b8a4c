"""The monitor: a web app that shows a crawl and steers it, from what Redis holds. No worker waits for it.

Of it, `words.py` and `formats.py` need nothing that isn't installed anyway; the rest needs the extra `monitor`.
"""
