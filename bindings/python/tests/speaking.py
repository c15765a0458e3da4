"""A common interface to the SDK's two clients, so that each test runs with both."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from inspect import isawaitable
from typing import Any

import openai
import pytest
from antiphon.openai import adeliver, deliver, stateful
from openai.lib.streaming.responses import ResponseStreamManager
from provider import Provider

Client = openai.OpenAI | openai.AsyncOpenAI

MODEL = {"model": "sim"}


class Speaker:
    """A stateful client, and its event loop if it is async."""

    def __init__(self, client: Client) -> None:
        self.loop = asyncio.new_event_loop()
        self.given = client
        self.client = stateful(client)

    def create(self, **request: Any) -> Any:
        """Creates a turn without streaming."""
        return self.awaited(self.client.responses.create(**MODEL | request))

    def raw(self, **request: Any) -> Any:
        """Creates a turn, and returns the raw response with its headers."""
        return self.awaited(self.client.responses.with_raw_response.create(**MODEL | request))

    def parse(self, **request: Any) -> Any:
        """Creates a turn with the SDK's parser."""
        return self.awaited(self.client.responses.parse(**MODEL | request))

    def events(self, until: str | None = None, **request: Any) -> list[Any]:
        """The events of a streamed turn, which ends after the first event of a type."""
        events: list[Any] = self.awaited(self._events(until, request))
        return events

    def stream(self, **request: Any) -> Any:
        """The final response of the SDK's stream helper."""
        return self.awaited(self._stream(request))

    def deliver(self, conversation: str, items: list[Any]) -> int:
        """Posts tool outputs without a turn."""
        if isinstance(self.client, openai.OpenAI):
            return deliver(self.client, conversation, items)
        return self.loop.run_until_complete(adeliver(self.client, conversation, items))

    def awaited(self, value: Any) -> Any:
        """Awaits the result of an async client's call; returns other values unchanged."""
        if not isawaitable(value):
            return value

        async def waiting() -> Any:
            return await value

        return self.loop.run_until_complete(waiting())

    def close(self) -> None:
        """Closes the client and the loop."""
        self.awaited(self.client.close())
        self.loop.close()

    def _events(self, until: str | None, request: dict[str, Any]) -> Any:
        opened = self.client.responses.create(**MODEL | request, stream=True)
        return _kept(opened, until) if isawaitable(opened) else _read(opened, until)

    def _stream(self, request: dict[str, Any]) -> Any:
        opened = self.client.responses.stream(**MODEL | request)
        if not isinstance(opened, ResponseStreamManager):
            return _final(opened)
        with opened as stream:
            return stream.get_final_response()


def _read(stream: Any, until: str | None) -> list[Any]:
    events = []
    with stream:
        for event in stream:
            events.append(event)
            if event.type == until:
                break
    return events


async def _kept(opened: Awaitable[Any], until: str | None) -> list[Any]:
    events = []
    async with await opened as stream:
        async for event in stream:
            events.append(event)
            if event.type == until:
                break
    return events


async def _final(opened: Any) -> Any:
    async with opened as stream:
        return await stream.get_final_response()


SPEAKERS: dict[str, Callable[..., Client]] = {"sync": openai.OpenAI, "async": openai.AsyncOpenAI}

ECHO: Any = {
    "type": "function",
    "name": "echo",
    "parameters": {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
        "additionalProperties": False,
    },
    "strict": True,
}


@pytest.fixture(params=SPEAKERS)
def speaker(request: pytest.FixtureRequest, provider: Provider) -> Iterator[Speaker]:
    """A stateful client of each kind at the test's provider."""
    speaker = Speaker(SPEAKERS[request.param](max_retries=0))
    yield speaker
    speaker.close()


def user(text: str) -> Any:
    return {"role": "user", "content": text}


def replayed(response: Any) -> list[Any]:
    """The items of an answer as an agent resends them."""
    return [item.model_dump(mode="json", exclude_none=True) for item in response.output]


def output_of(response: Any, text: str = "hello") -> list[Any]:
    """The outputs for the calls of an answer."""
    return [
        {"type": "function_call_output", "call_id": item.call_id, "output": text}
        for item in response.output
        if item.type == "function_call"
    ]
