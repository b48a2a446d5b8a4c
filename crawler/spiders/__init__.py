"""The two spiders: each runs as a worker's share of one frontier, on every node.

In come claimed seeds as downloaded pages; out go offers of further seeds, and items. `base.py` decides what each answer
means for its seed; what a page yields is read by `producer.py` (search pages, which lead to content pages) and by
`consumer.py` (content pages, which become items and may lead on). Read `base.py` first.
"""
