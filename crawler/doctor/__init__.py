"""`scrapy doctor`: is this set-up fit for a crawl, and would it lose data?

`checks.py` is the table of all checks; each other module examines one thing, and `examination.py` runs the table. A
check says in a line what it found, or what is wrong and what to do (`finding.py`). It changes nothing that it looks at.
"""
