"""What a download's error in Scrapy's HTTP/1.1 client over Twisted says of the answer, in the ledger's words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from OpenSSL.SSL import Error as TLSError
from scrapy.exceptions import DownloadFailedError, ResponseDataLossError
from service_identity import CertificateError, VerificationError
from twisted.internet.error import ConnectError, ConnectionClosed, ConnectionDone
from twisted.web._newclient import (
    RequestNotSent,
    RequestTransmissionFailed,
    ResponseFailed,
    ResponseNeverReceived,
    _WrapperException,
)
from twisted.web.http import PotentialDataLoss, _DataLoss

from crawler.errors import AnswerError

if TYPE_CHECKING:
    from collections.abc import Iterator

_CONNECTION = (ConnectError, ConnectionClosed, RequestNotSent, RequestTransmissionFailed)
_TLS = (TLSError, VerificationError, CertificateError)


def answer_error(error: Exception) -> AnswerError | None:
    """Returns the error in our words; None where Scrapy's own exception says it all, or for one that is unheard of."""
    if isinstance(error, DownloadFailedError | ResponseDataLossError):
        wrapped: BaseException | None = error.__cause__
    elif isinstance(error, (_WrapperException, *_CONNECTION, *_TLS)):
        wrapped = error
    else:
        return None
    causes = list(_causes(wrapped))
    for cause in causes:
        if isinstance(cause, AnswerError):
            return cause
        if isinstance(cause, _TLS):
            return AnswerError("tls", str(cause))
        if not isinstance(cause, _CONNECTION):  # Twisted's parser: not HTTP, two lengths, broken chunks
            return AnswerError("bad-response", str(cause))
    if isinstance(error, ResponseDataLossError) or _within_head(wrapped, causes):
        return AnswerError("truncated", "the connection ended within the answer")
    return AnswerError("connection", str(causes[0]) if causes else "")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yields the exceptions within Twisted's wrappers, without those that only say that the body isn't whole."""
    if isinstance(error, _WrapperException) and not isinstance(error, _CONNECTION):
        for failure in error.reasons:
            yield from _causes(failure.value)
    elif error is not None and not isinstance(error, _DataLoss | PotentialDataLoss):
        yield error


def _within_head(wrapped: BaseException | None, causes: list[BaseException]) -> bool:
    """Whether the server ended the connection in good order, having sent a part of the headers."""
    return (
        isinstance(wrapped, ResponseFailed)
        and not isinstance(wrapped, ResponseNeverReceived)
        and all(isinstance(cause, ConnectionDone) for cause in causes)
    )
