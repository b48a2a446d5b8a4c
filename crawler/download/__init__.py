"""Downloads pages with libcurl, and bounds what a server may do to a worker meanwhile.

In: a Scrapy request. Out: Scrapy's response, or an exception that the ledger has a word for. Only addresses that were
looked up and found fit for use are connected to; heads, chunks, codings, sizes and times have limits. Read handler.py
first: it has the class that the setting DOWNLOAD_HANDLERS names, and calls the rest in the order of a download.
"""
