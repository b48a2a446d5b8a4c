"""Scrapy's middlewares: what every request of a visit passes on its way out, and every answer on its way back.

In: requests that carry a `RequestState`. Out: the same requests once they may be sent, or a `RefusedError` with the
outcome for their seed; for spiders, decoded answers. Requests without a state pass untouched.
Read `turns.py` first, the last before the wire; `crawler/config/crawl_settings.py` has their order.
"""
