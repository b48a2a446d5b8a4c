"""Do crawls say what is true? Real applications are crawled, and each item is compared with the application's own data.

In: `testbed/applications/`, which starts and fills them and knows their data. Out: a table, and what falls short of the
marks; `make truth`. Read `run.py` first: it tells the story. `compare.py` says what is right and what wrong, by no code
of the crawler's; `sites/` holds the site files, as analysts write them.
"""
