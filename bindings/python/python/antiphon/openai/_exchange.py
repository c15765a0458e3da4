"""What becomes of one request of a client's, without any IO, for the sync and the async client."""

from __future__ import annotations

import hashlib
import logging
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from antiphon._native import Ask, Companion, Send, Turn

from ._library import library_of

if TYPE_CHECKING:
    import httpx2

logger = logging.getLogger("antiphon")

DELIVERY = "antiphon-delivery"
"""The header that tells a delivery from items that a program adds itself. It is not sent."""

MAX_ANSWER = 64 << 20
"""Bytes that are held of an answer that is asked for."""

MAX_REFUSAL = 1 << 20
"""Bytes that are held of a refusal."""

_CONVERSATION = re.compile(r"(?P<base>.*)/conversations/(?P<id>[^/]+)(?:/items(?:/[^/]+)?)?/?")

_CREDENTIALS = re.compile("auth|api-?key|token|organization|project|tenant", re.IGNORECASE)
"""Names of headers that may tell whose data a request concerns: the SDK's, and those of proxies."""

_OF_THE_BODY = frozenset({"content-length", "transfer-encoding"})

_OF_THE_TURN = _OF_THE_BODY | {
    "accept",
    "content-type",
    "idempotency-key",
    "x-stainless-raw-response",
    "x-stainless-retry-count",
}

_NOTHING_POSTED: dict[str, Any] = {
    "object": "list",
    "data": [],
    "first_id": None,
    "last_id": None,
    "has_more": False,
}


class Exchange:
    """A request that goes by way of a companion, and the requests that come of it."""

    def __init__(self, request: httpx2.Request, base: str, turn: Turn) -> None:
        self.turn = turn
        self._request = request
        self._base = base
        self.library = library_of(request)
        self._has_told_by_kind = False

    def asking(self, ask: Ask) -> httpx2.Request:
        """The request that asks the server: with the turn's credentials, timeouts and query."""
        path, _, query = ask.path.partition("?")
        theirs = self._request.url.query.decode("ascii")
        target = f"{self._base}{path}?{'&'.join(part for part in (query, theirs) if part)}"
        headers = self._headers(without=_OF_THE_TURN)
        headers.append(("accept", "application/json"))
        if ask.body is not None:
            headers.append(("content-type", "application/json"))
        url = self._request.url.copy_with(raw_path=target.rstrip("?").encode("ascii"))
        return self._made(ask.method, url, headers, ask.body)

    def sending(self, send: Send) -> httpx2.Request:
        """The request as it came, with the body that is to go, and a wish for a plain answer."""
        headers = self._headers(without=_OF_THE_BODY | {"accept-encoding"})
        headers.append(("accept-encoding", "identity"))
        return self._made(self._request.method, self._request.url, headers, send.body)

    def relays(self, response: httpx2.Response) -> bool:
        """Whether the answer can be heard on its way; if not, the turn was left."""
        self._report(response)
        plain = response.headers.get("content-encoding", "identity").lower() == "identity"
        if not plain:
            self.turn.left()
        return plain

    def begun(self, response: httpx2.Response) -> None:
        """Tells the turn that the server answers."""
        content_type = response.headers.get("content-type", "")
        self.turn.begun(content_type.lower().startswith("text/event-stream"))

    def told(self, answer: httpx2.Response, body: bytes) -> httpx2.Response:
        """What the server says to a question, for the caller of a turn that was not sent."""
        headers = [
            (k, v)
            for k, v in answer.headers.multi_items()
            if k.lower() not in _OF_THE_BODY | {"content-encoding"}
        ]
        response: httpx2.Response = self.library.Response(
            answer.status_code, headers=headers, content=body, request=self._request
        )
        return response

    def nothing_posted(self) -> httpx2.Response:
        """The answer to a delivery of which the conversation waits for nothing."""
        response: httpx2.Response = self.library.Response(
            200, json=_NOTHING_POSTED, request=self._request
        )
        return response

    def _headers(self, without: frozenset[str]) -> list[tuple[str, str]]:
        return [(k, v) for k, v in self._request.headers.multi_items() if k.lower() not in without]

    def _made(
        self, method: str, url: httpx2.URL, headers: list[tuple[str, str]], body: bytes | None
    ) -> httpx2.Request:
        extensions = self._request.extensions
        request: httpx2.Request = self.library.Request(
            method, url, headers=headers, content=body, extensions=extensions
        )
        return request

    def _report(self, response: httpx2.Response) -> None:
        """Tells the caller and the operator what was done."""
        report = self.turn.report()
        for name, value in report.headers:
            response.headers[name] = value
        if report.resent:
            logger.info("left out %d items that the server holds already", report.resent)
        if report.by_kind and not self._has_told_by_kind:
            self._has_told_by_kind = True
            logger.warning(
                "the server does not tell what it holds: items are left out by their kind, and "
                "messages that are sent again are stored again"
            )
        mends = Counter((fault, action) for _, _, _, fault, action, _ in report.mends)
        for (fault, action), times in mends.items():
            logger.warning("mended a request: %s, %s (%d)", fault, action, times)


def opened(companion: Companion, request: httpx2.Request) -> Exchange | None:
    """The exchange that a request begins, or none where it is nothing that concerns a companion.

    Raises `ValueError` for a delivery of what are no items; a turn's body that is odd passes, for
    the server to judge.
    """
    delivery = request.headers.pop(DELIVERY, None)
    body = _body(request)
    if request.method != "POST" or body is None:
        return None
    path = _path(request)
    if delivery and (place := _CONVERSATION.fullmatch(path)):
        base = place["base"]
        return Exchange(request, base, companion.deliver(account(request, base), place["id"], body))
    if not path.endswith("/responses"):
        return None
    base = path.removesuffix("/responses")
    try:
        return Exchange(request, base, companion.open(account(request, base), body))
    except ValueError:
        logger.debug("a request passes as it is: its body is none of the Responses API")
        return None


def touched(request: httpx2.Request) -> tuple[str, str] | None:
    """The account and the conversation that a request changes, where it changes one."""
    if request.method in ("GET", "HEAD", "OPTIONS"):
        return None
    place = _CONVERSATION.fullmatch(_path(request))
    return (account(request, place["base"]), place["id"]) if place else None


def account(request: httpx2.Request, base: str) -> str:
    """Whose data a request concerns: a digest of the server and of the credentials."""
    url = request.url
    parts = [url.scheme, url.netloc.decode("ascii"), base]
    headers = sorted(request.headers.items())
    parts += [part for header in headers if _CREDENTIALS.search(header[0]) for part in header]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _path(request: httpx2.Request) -> str:
    return request.url.raw_path.decode("ascii").partition("?")[0]


def _body(request: httpx2.Request) -> bytes | None:
    """The request's body, where it is JSON and in memory."""
    if "json" not in request.headers.get("content-type", ""):
        return None
    try:
        return request.content
    except library_of(request).RequestNotRead:
        return None
