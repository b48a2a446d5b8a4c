"""One process's share in the cluster: it claims seeds, follows each as a visit, and settles it.

In: claimed seeds and wake-ups from Redis; from Scrapy, callbacks' output and items. Out: visits for the scheduler,
turns for requests, settlements and offers for the frontier, figures for `scrapy nodes`.
Read `worker.py` first, which builds all the parts; then `visits/visit.py` and `turns/lanes.py`.
"""
