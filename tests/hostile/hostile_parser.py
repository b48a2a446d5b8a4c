"""A parser of a site (PARSER_MODULES): the page says itself, in JSON, what it yields or how it fails."""

import json

from crawler.base.errors import ExtractError
from crawler.extract import Fields


def read(page, site):
    said = json.loads(page.body)
    if "reason" in said:
        raise ExtractError(said["reason"], said["reason"])
    return Fields(**said)
