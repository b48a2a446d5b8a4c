"""The commands beside Scrapy's own: each module is the command of its name, `scrapy plan` is `plan.py`.

In come the words of a command line; out go text or JSON on stdout, and exit status 0, or 1 with one line on stderr.
Read `nodes.py` first, the shortest. What the commands share is in `crawler.cli`; a new command needs a module here
and a line among the entry points in pyproject.toml.
"""
