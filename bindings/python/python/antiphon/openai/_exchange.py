"""One request of a client, without IO. The sync and the async http client share it."""

from __future__ import annotations

import hashlib
import logging
import re
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from antiphon._native import Ask, Send, StatefulClient, Turn

from ._library import library_of

if TYPE_CHECKING:
    import httpx2

logger = logging.getLogger("antiphon")

DELIVERY = "antiphon-delivery"
"""The header that marks a call of `deliver`. It is removed before the request is sent."""

MAX_ANSWER = 64 << 20
"""The maximum size of a list answer in bytes."""

MAX_REFUSAL = 1 << 20
"""The maximum size in bytes of a rejection that the turn reads."""

_CONVERSATION = re.compile(r"(?P<base>.*)/conversations/(?P<id>[^/]+)(?:/items(?:/[^/]+)?)?/?")

_CREDENTIALS = re.compile("auth|api-?key|token|organization|project|tenant", re.IGNORECASE)
"""Headers that may identify the account of a request: the SDK's, and those of proxies."""

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
    """A request of a `StatefulClient`, and the requests that result from it."""

    def __init__(self, request: httpx2.Request, base: str, turn: Turn) -> None:
        self.turn = turn
        self._request = request
        self._base = base
        self.library = library_of(request)
        self._has_warned = False

    def asking(self, ask: Ask) -> httpx2.Request:
        """Builds a list or delete request with the turn's credentials, timeouts and query."""
        path, _, query = ask.path.partition("?")
        theirs = self._request.url.query.decode("ascii")
        target = f"{self._base}{path}?{'&'.join(part for part in (query, theirs) if part)}"
        headers = self._headers(without=_OF_THE_TURN)
        headers.append(("accept", "application/json"))
        url = self._request.url.copy_with(raw_path=target.rstrip("?").encode("ascii"))
        return self._build(ask.method, url, headers, None)

    def sending(self, send: Send) -> httpx2.Request:
        """Builds the request with the planned body. Asks for an answer without compression."""
        headers = self._headers(without=_OF_THE_BODY | {"accept-encoding"})
        headers.append(("accept-encoding", "identity"))
        return self._build(self._request.method, self._request.url, headers, send.body)

    def relays(self, response: httpx2.Response) -> bool:
        """Whether the turn can observe the answer. If not, the turn is abandoned."""
        self._report(response)
        plain = response.headers.get("content-encoding", "identity").lower() == "identity"
        if not plain:
            self.turn.abandon()
        return plain

    def begun(self, response: httpx2.Response) -> None:
        """Reports the start of the answer to the turn, which may change its length."""
        content_type = response.headers.get("content-type", "")
        response.headers.pop("content-length", None)
        self.turn.start(content_type.lower().startswith("text/event-stream"), unix_now())

    def corrected(self, response: httpx2.Response) -> httpx2.Response:
        """Passes an answer that was read before to the turn. Returns it as the turn corrects it."""
        given = response.content
        body = self.turn.push(given, unix_now()) + self.turn.finish(unix_now())
        return response if body == given else self.rebuilt(response, body)

    def rebuilt(self, answer: httpx2.Response, body: bytes) -> httpx2.Response:
        """Rebuilds an answer that was read, with this body."""
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
        """The answer to a delivery if the conversation needs none of its outputs."""
        response: httpx2.Response = self.library.Response(
            200, json=_NOTHING_POSTED, request=self._request
        )
        return response

    def _headers(self, without: frozenset[str]) -> list[tuple[str, str]]:
        return [(k, v) for k, v in self._request.headers.multi_items() if k.lower() not in without]

    def _build(
        self, method: str, url: httpx2.URL, headers: list[tuple[str, str]], body: bytes | None
    ) -> httpx2.Request:
        extensions = self._request.extensions
        request: httpx2.Request = self.library.Request(
            method, url, headers=headers, content=body, extensions=extensions
        )
        return request

    def _report(self, response: httpx2.Response) -> None:
        """Reports the turn's repairs in headers and in the log."""
        report = self.turn.report()
        for name, value in report.headers:
            response.headers[name] = value
        if report.resent:
            logger.info("left out %d items that the server already holds", report.resent)
        if report.by_kind and not self._has_warned:
            self._has_warned = True
            logger.warning(
                "the server refuses to list its items: calls and reasoning are left out by type, "
                "and messages that are sent again are stored again"
            )
        mends = Counter((fault, action) for _, _, _, fault, action, _ in report.mends)
        for (fault, action), times in mends.items():
            logger.warning("repaired a request: %s, %s (%d)", fault, action, times)


def unix_now() -> int:
    """The time in Unix seconds."""
    return int(time.time())


def opened(client: StatefulClient, request: httpx2.Request) -> Exchange | None:
    """Begins the exchange of a request. None if the request does not concern its state.

    Raises `ValueError` for a delivery without items. An invalid body of a turn passes unchanged,
    and the server rejects it.
    """
    delivery = request.headers.pop(DELIVERY, None)
    body = _body(request)
    if request.method != "POST" or body is None:
        return None
    path = _path(request)
    if delivery and (place := _CONVERSATION.fullmatch(path)):
        base = place["base"]
        return Exchange(request, base, client.deliver(account(request, base), place["id"], body))
    if not path.endswith("/responses"):
        return None
    base = path.removesuffix("/responses")
    try:
        return Exchange(request, base, client.open(account(request, base), body))
    except ValueError:
        logger.debug("a request passes unchanged: its body is not a Responses API request")
        return None


def touched(request: httpx2.Request) -> tuple[str, str] | None:
    """The account and the conversation that a request changes, if it changes one."""
    if request.method in ("GET", "HEAD", "OPTIONS"):
        return None
    place = _CONVERSATION.fullmatch(_path(request))
    return (account(request, place["base"]), place["id"]) if place else None


def account(request: httpx2.Request, base: str) -> str:
    """The account of a request: a digest of the server and the credentials."""
    url = request.url
    parts = [url.scheme, url.netloc.decode("ascii"), base]
    headers = sorted(request.headers.items())
    parts += [part for header in headers if _CREDENTIALS.search(header[0]) for part in header]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _path(request: httpx2.Request) -> str:
    return request.url.raw_path.decode("ascii").partition("?")[0]


def _body(request: httpx2.Request) -> bytes | None:
    """The request's body, if it is JSON and in memory."""
    if "json" not in request.headers.get("content-type", ""):
        return None
    try:
        return request.content
    except library_of(request).RequestNotRead:
        return None
