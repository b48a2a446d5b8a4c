"""Renders pages with a Chromium that has no network: whatever a page asks for, the crawl's HTTP client fetches.

In: a URL, how the page is to be rendered, and a function that fetches. Out: the page's HTML once it has settled, or an
error that says what ended it. Read renderer.py first, then open_page.py for one page's way and interception.py for how
its requests get here. This package knows nothing of turns, robots.txt or scope: these hold since all that a page asks
for goes through the function that it was given.
"""
