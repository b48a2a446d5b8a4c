"""What is given up where DOWNLOAD_HANDLERS names another handler than this package's, such as Scrapy's own."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy.utils.misc import load_object
from scrapy.utils.python import global_object_name

from crawler.base import log_events
from crawler.download.handler import CurlDownloadHandler

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from crawler.base.log_events import EventLogger

logger: EventLogger = logging.getLogger(__name__)
GIVEN_UP = (
    "host names that lead to private addresses are not refused (addresses written in URLs are)",
    "nothing bounds a server's headers, informational answers and chunks",
    "a download may run on after its visit has ended and its seed is somebody else's",
    "a request that a kept connection lost may be sent again without the host's delay and turn",
    "the ledger may call errors of connections and answers by other words",
)


def warn_of_other_handlers(settings: BaseSettings) -> None:
    """Logs a warning for each handler of http and https that isn't CurlDownloadHandler or a subclass of it."""
    handlers = settings.getwithbase("DOWNLOAD_HANDLERS")
    for scheme in ("http", "https"):
        handler = load_object(handlers[scheme]) if handlers.get(scheme) else CurlDownloadHandler
        if not issubclass(handler, CurlDownloadHandler):
            name = global_object_name(handler)
            logger.warning(log_events.FOREIGN_HANDLER, name, scheme, "; ".join(GIVEN_UP))
