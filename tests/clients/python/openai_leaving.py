"""The ways in which a program on the openai library leaves a stream: blocking or not.

Each is a function from a tenant and an event loop to `leave(moment, **params) -> Heard`.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from context import Tenant
from leaving import Moment
from openai_delivery import async_client, blocking_client
from openai_state import Chained, Replayed, State


@dataclass
class Heard:
    """What a program knows of a response that it left."""

    response_id: str = ""
    items: list[Any] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)

    def hear(self, event: Any) -> None:
        if event.type == "response.created":
            self.response_id = event.response.id
        elif event.type == "response.output_item.done":
            self.items.append(event.item.to_dict())
        elif event.type == "response.output_item.added" and event.item.type == "function_call":
            self.calls.append(event.item.call_id)

    @property
    def late_outputs(self) -> list[Any]:
        """The outputs of all calls that were heard of, finished or not."""
        output = {"type": "function_call_output", "output": "hello"}
        return [{**output, "call_id": call_id} for call_id in self.calls]

    def settle(self, state: State) -> None:
        """Goes on from what was heard."""
        match state:
            case Chained():
                state.last = self.response_id
            case Replayed():
                state.history += self.items


Leave = Callable[..., Heard]


def streamed(tenant: Tenant, _loop: asyncio.Runner) -> Leave:
    client = blocking_client(tenant)

    def leave(moment: Moment, **params: Any) -> Heard:
        heard = Heard()
        with client.responses.create(stream=True, **params) as stream:
            for event in stream:
                heard.hear(event)
                if moment.is_told_by(event):
                    return heard
        raise AssertionError(f"the stream went on beyond {moment}")

    return leave


def streamed_async(tenant: Tenant, loop: asyncio.Runner) -> Leave:
    client = async_client(tenant)

    async def leave(moment: Moment, **params: Any) -> Heard:
        heard = Heard()
        async with await client.responses.create(stream=True, **params) as stream:
            async for event in stream:
                heard.hear(event)
                if moment.is_told_by(event):
                    return heard
        raise AssertionError(f"the stream went on beyond {moment}")

    return lambda moment, **params: loop.run(leave(moment, **params))


DELIVERIES = {"stream": streamed, "async_stream": streamed_async}
