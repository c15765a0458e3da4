"""The http client of a sync openai client."""

from __future__ import annotations

import time
from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

from antiphon._native import Ask, GiveUp, StatefulClient, Turn

from ._exchange import MAX_ANSWER, MAX_REFUSAL, Exchange, opened, touched, unix_now
from ._library import over

if TYPE_CHECKING:
    import httpx2
    from typing_extensions import Self


class StatefulHttpClient:
    """An http client that sends requests through another http client and a `StatefulClient`.

    It is a mixin for the http library's own `Client`, and shares the attributes of the wrapped
    client: setting an option or closing affects both.
    """

    __slots__ = ("_client", "_inner")

    def __init__(self, inner: httpx2.Client, client: StatefulClient) -> None:
        object.__setattr__(self, "__dict__", inner.__dict__)
        self._inner = inner
        self._client = client

    def build_request(self, *args: Any, **options: Any) -> httpx2.Request:
        """Builds a request with the wrapped client."""
        return self._inner.build_request(*args, **options)

    def send(
        self, request: httpx2.Request, *, stream: bool = False, **options: Any
    ) -> httpx2.Response:
        """Sends the new items of a request, repaired, and corrects the answer."""
        exchange = opened(self._client, request)
        if exchange is None:
            return self._pass(request, stream=stream, **options)
        try:
            response = self._take(exchange, options)
        except BaseException:
            exchange.turn.abandon()
            raise
        return response if stream else _read(response)

    def close(self) -> None:
        """Closes the wrapped client."""
        self._inner.close()

    def __enter__(self) -> Self:
        self._inner.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        self._inner.__exit__(kind, error, traceback)

    def _pass(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        try:
            return self._inner.send(request, **options)
        finally:
            if place := touched(request):
                self._client.mark_stale(*place)

    def _take(self, exchange: Exchange, options: dict[str, Any]) -> httpx2.Response:
        """Carries out the turn's steps until there is an answer for the caller."""
        listing: httpx2.Response | None = None
        refusal: httpx2.Response | None = None
        while True:
            if wait := exchange.turn.wait():
                time.sleep(wait)
            step = exchange.turn.step()
            if isinstance(step, Ask):
                listing = self._ask(exchange, step, options)
                continue
            if step is None or isinstance(step, GiveUp):
                return refusal or (listing if step else None) or exchange.nothing_posted()
            if refusal is not None:
                refusal.close()
            response = self._inner.send(exchange.sending(step), stream=True, **options)
            if response.is_success:
                return _corrected(exchange, response)
            refusal = _refused(exchange, response)

    def _ask(
        self, exchange: Exchange, ask: Ask, options: dict[str, Any]
    ) -> httpx2.Response:
        answer = self._inner.send(exchange.asking(ask), stream=True, **options)
        try:
            held = _up_to(MAX_ANSWER, answer.iter_bytes())
        finally:
            answer.close()
        body = b"".join(held)
        exchange.turn.record_answer(answer.status_code, body if len(body) <= MAX_ANSWER else b"")
        return exchange.rebuilt(answer, body)


def _corrected(exchange: Exchange, response: httpx2.Response) -> httpx2.Response:
    """Returns the answer as the turn corrects it."""
    if not exchange.relays(response):
        return response
    exchange.begun(response)
    if response.is_stream_consumed:
        return exchange.corrected(response)
    stream_class = over(CorrectedStream, exchange.library.SyncByteStream)
    response.stream = stream_class(response.stream, exchange.turn)
    return response


def _refused(exchange: Exchange, response: httpx2.Response) -> httpx2.Response:
    """Passes a rejection to the turn, and returns it unread."""
    if not exchange.relays(response):
        return response
    try:
        body = _held(exchange, response)
    except BaseException:
        response.close()
        raise
    exchange.turn.record_rejection(response.status_code, body if len(body) <= MAX_REFUSAL else b"")
    return response


def _held(exchange: Exchange, response: httpx2.Response) -> bytes:
    """Reads the first bytes, and puts them back. Frees the connection if there are no more."""
    if response.is_stream_consumed:
        return response.content
    stream = cast("httpx2.SyncByteStream", response.stream)
    chunks = iter(stream)
    held = _up_to(MAX_REFUSAL, chunks)
    body = b"".join(held)
    if len(body) <= MAX_REFUSAL:
        stream.close()
    stream_class = over(ReplayedStream, exchange.library.SyncByteStream)
    response.stream = stream_class(stream, held, chunks)
    return body


def _up_to(most: int, chunks: Iterator[bytes]) -> list[bytes]:
    """Reads chunks until they have more than `most` bytes, or end."""
    held = []
    size = 0
    for chunk in chunks:
        held.append(chunk)
        size += len(chunk)
        if size > most:
            break
    return held


def _read(response: httpx2.Response) -> httpx2.Response:
    try:
        response.read()
    except BaseException:
        response.close()
        raise
    return response


class CorrectedStream:
    """The bytes of an answer, as the turn corrects them."""

    def __init__(self, stream: httpx2.SyncByteStream, turn: Turn) -> None:
        self._stream = stream
        self._turn = turn

    def __iter__(self) -> Iterator[bytes]:
        try:
            for chunk in self._stream:
                if shown := self._turn.push(chunk, unix_now()):
                    yield shown
            if shown := self._turn.finish(unix_now()):
                yield shown
        finally:
            self._turn.abandon()

    @property
    def elapsed(self) -> Any:
        """The time until the answer was closed, as the library measures it."""
        return getattr(self._stream, "elapsed", None)

    def close(self) -> None:
        """Abandons the turn if the answer is incomplete, and closes the connection."""
        self._turn.abandon()
        self._stream.close()


class ReplayedStream:
    """The bytes of a rejection: the chunks that were read before, then the rest."""

    def __init__(
        self, stream: httpx2.SyncByteStream, held: list[bytes], rest: Iterator[bytes]
    ) -> None:
        self._stream = stream
        self._held = held
        self._rest = rest

    def __iter__(self) -> Iterator[bytes]:
        yield from self._held
        yield from self._rest

    @property
    def elapsed(self) -> Any:
        """The time until the answer was closed, as the library measures it."""
        return getattr(self._stream, "elapsed", None)

    def close(self) -> None:
        """Closes the connection."""
        self._stream.close()
