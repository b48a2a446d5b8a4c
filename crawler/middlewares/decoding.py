"""Downloader middleware that decodes bodies with `crawler/download/codings.py`, in place of Scrapy's own.

Scrapy's is less strict: it decodes any number of nested codings, passes on what it can't decode, raises the errors of
several libraries for damaged bodies, and lets zstd take 128 MiB of memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware

from crawler.base.errors import AnswerError
from crawler.download import codings
from crawler.worker.visits.outcomes import outcome_of_status

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response


class DecodingMiddleware(HttpCompressionMiddleware):
    """Scrapy's middleware with our decoders."""

    def process_request(self, request: Request) -> None:  # type: ignore[override]  # Scrapy's takes a spider as well
        """Sets Accept-Encoding to the codings that can be decoded, unless the request has one."""
        request.headers.setdefault("Accept-Encoding", codings.ACCEPT_ENCODING)

    def process_response(  # type: ignore[override]  # Scrapy's takes a spider as well
        self, request: Request, response: Response
    ) -> Request | Response:
        """Returns the answer decoded; without its body if that can't be decoded and the status says it is no page.

        Raises:
            AnswerError: `bad-encoding`, `truncated` or `too-large`.
        """
        if b"Content-Encoding" not in response.headers:
            return response
        try:
            return super().process_response(request, response)
        except AnswerError:
            if outcome_of_status(response.status) is None:
                raise
            return response.replace(body=b"")

    def _handle_encoding(self, body: bytes, content_encoding: list[bytes], max_size: int) -> tuple[bytes, list[bytes]]:
        """Returns the decoded body and the codings that are left: none."""
        return codings.decode(body, content_encoding, max_size), []
