"""The ways in which the anthropic library delivers a message: whole or streamed, blocking or not.

Each is a function from a tenant and an event loop to `create(**params) -> Message`.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from anthropic import Anthropic, AsyncAnthropic
from anthropic.types import Message

from context import Tenant

TIMEOUT = 20

Create = Callable[..., Message]


def created(tenant: Tenant, _loop: asyncio.Runner) -> Create:
    return blocking_client(tenant).messages.create


def stream_helper(tenant: Tenant, _loop: asyncio.Runner) -> Create:
    client = blocking_client(tenant)

    def create(**params: Any) -> Message:
        with client.messages.stream(**params) as stream:
            return stream.get_final_message()

    return create


def created_async(tenant: Tenant, loop: asyncio.Runner) -> Create:
    client = async_client(tenant)
    return lambda **params: loop.run(client.messages.create(**params))


def stream_helper_async(tenant: Tenant, loop: asyncio.Runner) -> Create:
    client = async_client(tenant)

    async def create(**params: Any) -> Message:
        async with client.messages.stream(**params) as stream:
            return await stream.get_final_message()

    return lambda **params: loop.run(create(**params))


DELIVERIES = {
    "create": created,
    "stream": stream_helper,
    "async_create": created_async,
    "async_stream": stream_helper_async,
}


def blocking_client(tenant: Tenant) -> Anthropic:
    """A client that does not retry: what fails is seen."""
    return Anthropic(base_url=tenant.root, **options(tenant))


def async_client(tenant: Tenant) -> AsyncAnthropic:
    """A client that does not retry: what fails is seen."""
    return AsyncAnthropic(base_url=tenant.root, **options(tenant))


def options(tenant: Tenant) -> dict[str, Any]:
    return {"api_key": tenant.api_key, "timeout": TIMEOUT, "max_retries": 0}


def assert_events(types: list[str]) -> None:
    """The events begin and end as Anthropic's do."""
    types = [kind for kind in types if kind != "ping"]
    assert types[0] == "message_start"
    assert types[-2:] == ["message_delta", "message_stop"]
    assert types.count("content_block_start") == types.count("content_block_stop")
