"""The ways in which the openai library delivers a response: whole or streamed, blocking or not.

Each is a function from a tenant and an event loop to `respond(**params) -> Response`.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

from openai import AsyncAzureOpenAI, AsyncOpenAI, AzureOpenAI, OpenAI
from openai.types.responses import Response, ResponseCreatedEvent

from context import Tenant

TIMEOUT = 20

Respond = Callable[..., Response]


def created(tenant: Tenant, _loop: asyncio.Runner) -> Respond:
    return blocking_client(tenant).responses.create


def streamed(tenant: Tenant, _loop: asyncio.Runner) -> Respond:
    client = blocking_client(tenant)

    def respond(**params: Any) -> Response:
        with client.responses.create(stream=True, **params) as stream:
            return completed_response(stream)

    return respond


def stream_helper(tenant: Tenant, _loop: asyncio.Runner) -> Respond:
    client = blocking_client(tenant)

    def respond(**params: Any) -> Response:
        with client.responses.stream(**params) as stream:
            return agreed(completed_response(stream), stream.get_final_response())

    return respond


def created_async(tenant: Tenant, loop: asyncio.Runner) -> Respond:
    client = async_client(tenant)
    return lambda **params: loop.run(client.responses.create(**params))


def streamed_async(tenant: Tenant, loop: asyncio.Runner) -> Respond:
    client = async_client(tenant)

    async def respond(**params: Any) -> Response:
        async with await client.responses.create(stream=True, **params) as stream:
            return completed_response([event async for event in stream])

    return lambda **params: loop.run(respond(**params))


def stream_helper_async(tenant: Tenant, loop: asyncio.Runner) -> Respond:
    client = async_client(tenant)

    async def respond(**params: Any) -> Response:
        async with client.responses.stream(**params) as stream:
            last = completed_response([event async for event in stream])
            return agreed(last, await stream.get_final_response())

    return lambda **params: loop.run(respond(**params))


DELIVERIES = {
    "create": created,
    "stream": streamed,
    "stream_helper": stream_helper,
    "async_create": created_async,
    "async_stream": streamed_async,
    "async_stream_helper": stream_helper_async,
}


def blocking_client(tenant: Tenant) -> OpenAI:
    """A client that does not retry: what fails is seen."""
    if tenant.uses_azure:
        return AzureOpenAI(azure_endpoint=tenant.root, **AZURE_VERSION, **options(tenant))
    return OpenAI(base_url=tenant.base_url, **options(tenant))


def async_client(tenant: Tenant) -> AsyncOpenAI:
    """A client that does not retry: what fails is seen."""
    if tenant.uses_azure:
        return AsyncAzureOpenAI(azure_endpoint=tenant.root, **AZURE_VERSION, **options(tenant))
    return AsyncOpenAI(base_url=tenant.base_url, **options(tenant))


AZURE_VERSION = {"api_version": "2025-04-01-preview"}


def options(tenant: Tenant) -> dict[str, Any]:
    return {"api_key": tenant.api_key, "timeout": TIMEOUT, "max_retries": 0}


def completed_response(stream: Iterable[Any]) -> Response:
    """The response of a stream's last event; its events begin, count and end as they must."""
    events = list(stream)
    numbered = [event for event in events if hasattr(event, "sequence_number")]
    assert [event.sequence_number for event in numbered] == list(range(len(numbered)))
    assert isinstance(events[0], ResponseCreatedEvent)
    assert events[-1].type == "response.completed"
    assert events[0].response.id == events[-1].response.id
    assert_deltas_add_up(events)
    return events[-1].response


def assert_deltas_add_up(events: list[Any]) -> None:
    """What came in pieces is what came whole."""
    deltas = [e.delta for e in events if e.type == "response.output_text.delta"]
    assert "".join(deltas) == events[-1].response.output_text


def agreed(last: Response, final: Response) -> Response:
    """The helper's own snapshot, which must be what the last event carried."""
    assert final.id == last.id
    assert final.output_text == last.output_text
    return final
