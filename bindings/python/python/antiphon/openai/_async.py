"""The http client of an async openai client."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

import anyio

from antiphon._native import Ask, GiveUp, StatefulClient, Turn

from ._exchange import MAX_ANSWER, MAX_REFUSAL, Exchange, opened, touched, unix_now
from ._library import over

if TYPE_CHECKING:
    import httpx2
    from typing_extensions import Self


class StatefulAsyncHttpClient:
    """An http client that sends requests through another http client and a `StatefulClient`.

    It is a mixin for the http library's own `AsyncClient`, and shares the attributes of the wrapped
    client: setting an option or closing affects both.
    """

    __slots__ = ("_client", "_inner")

    def __init__(self, inner: httpx2.AsyncClient, client: StatefulClient) -> None:
        object.__setattr__(self, "__dict__", inner.__dict__)
        self._inner = inner
        self._client = client

    def build_request(self, *args: Any, **options: Any) -> httpx2.Request:
        """Builds a request with the wrapped client."""
        return self._inner.build_request(*args, **options)

    async def send(
        self, request: httpx2.Request, *, stream: bool = False, **options: Any
    ) -> httpx2.Response:
        """Sends the new items of a request, repaired, and corrects the answer."""
        exchange = opened(self._client, request)
        if exchange is None:
            return await self._pass(request, stream=stream, **options)
        try:
            response = await self._take(exchange, options)
        except BaseException:
            exchange.turn.abandon()
            raise
        return response if stream else await _read(response)

    async def aclose(self) -> None:
        """Closes the wrapped client."""
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        await self._inner.__aexit__(kind, error, traceback)

    async def _pass(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        try:
            return await self._inner.send(request, **options)
        finally:
            if place := touched(request):
                self._client.mark_stale(*place)

    async def _take(self, exchange: Exchange, options: dict[str, Any]) -> httpx2.Response:
        """Carries out the turn's steps until there is an answer for the caller."""
        listing: httpx2.Response | None = None
        refusal: httpx2.Response | None = None
        while True:
            if wait := exchange.turn.wait():
                await anyio.sleep(wait)
            step = exchange.turn.step()
            if isinstance(step, Ask):
                listing = await self._ask(exchange, step, options)
                continue
            if step is None or isinstance(step, GiveUp):
                return refusal or (listing if step else None) or exchange.nothing_posted()
            if refusal is not None:
                await refusal.aclose()
            response = await self._inner.send(exchange.sending(step), stream=True, **options)
            if response.is_success:
                return _corrected(exchange, response)
            refusal = await _refused(exchange, response)

    async def _ask(
        self, exchange: Exchange, ask: Ask, options: dict[str, Any]
    ) -> httpx2.Response:
        answer = await self._inner.send(exchange.asking(ask), stream=True, **options)
        try:
            held = await _up_to(MAX_ANSWER, answer.aiter_bytes())
        finally:
            await answer.aclose()
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
    stream_class = over(CorrectedAsyncStream, exchange.library.AsyncByteStream)
    response.stream = stream_class(response.stream, exchange.turn)
    return response


async def _refused(exchange: Exchange, response: httpx2.Response) -> httpx2.Response:
    """Passes a rejection to the turn, and returns it unread."""
    if not exchange.relays(response):
        return response
    try:
        body = await _held(exchange, response)
    except BaseException:
        await response.aclose()
        raise
    exchange.turn.record_rejection(response.status_code, body if len(body) <= MAX_REFUSAL else b"")
    return response


async def _held(exchange: Exchange, response: httpx2.Response) -> bytes:
    """Reads the first bytes, and puts them back. Frees the connection if there are no more."""
    if response.is_stream_consumed:
        return response.content
    stream = cast("httpx2.AsyncByteStream", response.stream)
    chunks = aiter(stream)
    held = await _up_to(MAX_REFUSAL, chunks)
    body = b"".join(held)
    if len(body) <= MAX_REFUSAL:
        await stream.aclose()
    stream_class = over(ReplayedAsyncStream, exchange.library.AsyncByteStream)
    response.stream = stream_class(stream, held, chunks)
    return body


async def _up_to(most: int, chunks: AsyncIterator[bytes]) -> list[bytes]:
    """Reads chunks until they have more than `most` bytes, or end."""
    held = []
    size = 0
    async for chunk in chunks:
        held.append(chunk)
        size += len(chunk)
        if size > most:
            break
    return held


async def _read(response: httpx2.Response) -> httpx2.Response:
    try:
        await response.aread()
    except BaseException:
        await response.aclose()
        raise
    return response


class CorrectedAsyncStream:
    """The bytes of an answer, as the turn corrects them."""

    def __init__(self, stream: httpx2.AsyncByteStream, turn: Turn) -> None:
        self._stream = stream
        self._turn = turn

    async def __aiter__(self) -> AsyncIterator[bytes]:
        chunks = aiter(self._stream)
        try:
            async for chunk in chunks:
                if shown := self._turn.push(chunk, unix_now()):
                    yield shown
            if shown := self._turn.finish(unix_now()):
                yield shown
        finally:
            self._turn.abandon()
            if isinstance(chunks, AsyncGenerator):
                await chunks.aclose()

    @property
    def elapsed(self) -> Any:
        """The time until the answer was closed, as the library measures it."""
        return getattr(self._stream, "elapsed", None)

    async def aclose(self) -> None:
        """Abandons the turn if the answer is incomplete, and closes the connection."""
        self._turn.abandon()
        await self._stream.aclose()


class ReplayedAsyncStream:
    """The bytes of a rejection: the chunks that were read before, then the rest."""

    def __init__(
        self, stream: httpx2.AsyncByteStream, held: list[bytes], rest: AsyncIterator[bytes]
    ) -> None:
        self._stream = stream
        self._held = held
        self._rest = rest

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self._held:
            yield chunk
        async for chunk in self._rest:
            yield chunk

    @property
    def elapsed(self) -> Any:
        """The time until the answer was closed, as the library measures it."""
        return getattr(self._stream, "elapsed", None)

    async def aclose(self) -> None:
        """Closes the connection."""
        await self._stream.aclose()
