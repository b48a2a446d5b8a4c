"""The testbed: a whole crawl on one machine, for `make demo`, and the real servers that the demo and the tests start.

`applications/` are wikis, a blog, a tracker and a forum that others have written, and `truth/` compares crawls of them
with their own data, for `make truth`. `reference_pages.py` writes those pages of docs/ that are made of the code, and
`monitor_pictures.py` the pictures.

In: `plans/demo.yaml`, and the addresses of servers that the environment names. Out: the folder `demo-output`, and what
the terminal shows. Read `demo.py` first: it tells the demo's story from top to bottom. `servers/` starts Redis, Kafka,
Mongo and others as processes that can't be left behind; `forum/` is the website that the demo crawls, and the truth
about it. The testbed uses the package `crawler`, never the other way round, and isn't part of the wheel.
"""
