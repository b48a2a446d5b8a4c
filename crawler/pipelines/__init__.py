"""Item pipelines: what happens to an item between the spider and the end of its page's visit, in this order.

In come the spiders' items. `clean.py` gives their texts one form, `media.py` fetches their images and videos, and
`sink.py` delivers them to files, Kafka, MongoDB: an item is through when each chosen sink has acknowledged it.
Read `sink.py` first: a new sink is one class like those in `files.py`, and one line in the setting SINKS.
"""
