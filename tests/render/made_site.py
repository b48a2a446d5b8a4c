"""A site as a page's `fetch` sees it: pages by address, and what was asked for."""

from __future__ import annotations

from crawler.base.errors import AnswerError
from crawler.render.exchange import PageAnswer

HTML, SCRIPT, JSON = b"text/html; charset=utf-8", b"text/javascript", b"application/json"


class MadeSite:
    """Answers what it has pages for, 404 for all else.

    Attributes:
        asked: The requests, in order.
        pages: By address: an answer, or what is raised for it.
    """

    def __init__(self):
        self.asked = []
        self.pages = {}

    def add(self, url, body, *headers, kind=HTML, status=200):
        content = body.encode() if isinstance(body, str) else body
        self.pages[url] = PageAnswer(status, ((b"Content-Type", kind), *headers), content)

    def redirect(self, url, target):
        self.pages[url] = PageAnswer(302, ((b"Location", target.encode()),), b"")

    def refuse(self, url):
        self.pages[url] = AnswerError("refused", url)

    async def __call__(self, request):
        self.asked.append(request)
        return self.answer(request.url)

    def answer(self, url):
        """Returns the answer at this address, or raises what there is instead."""
        answer = self.pages.get(url, PageAnswer(404, (), b"not found"))
        if isinstance(answer, Exception):
            raise answer
        return answer

    def urls(self):
        """Returns the addresses that were asked for, in order."""
        return [request.url for request in self.asked]
