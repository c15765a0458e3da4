"""The anthropic library, with the tool loop that its documentation shows."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from anthropic import BadRequestError, NotFoundError
from anthropic.types import Message, ToolParam

from anthropic_delivery import (
    DELIVERIES,
    Create,
    assert_events,
    async_client,
    blocking_client,
)
from context import Tenant, assert_conversation_holds, assert_each_item_once
from dialogue import ECHO, FACT, RECALL, Echo, Scene, hold_dialogue

ECHO_TOOL: ToolParam = {
    "name": "echo",
    "description": "Says the text again.",
    "input_schema": {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    },
}

THINKING = {"thinking": {"type": "enabled", "budget_tokens": 1024}}


def alone(_tenant: Tenant) -> tuple[None, dict[str, Any]]:
    """The client's history is the only one."""
    return None, {}


def in_header(tenant: Tenant) -> tuple[str, dict[str, Any]]:
    """A header names the stored conversation."""
    conversation = tenant.new_conversation()
    return conversation, {"extra_headers": {"antiphon-conversation": conversation}}


def in_metadata(tenant: Tenant) -> tuple[str, dict[str, Any]]:
    """The metadata name the stored conversation."""
    conversation = tenant.new_conversation()
    return conversation, {"metadata": {"conversation": conversation}}


WAYS: dict[str, Callable[[Tenant], tuple[str | None, dict[str, Any]]]] = {
    "replay": alone,
    "conversation": in_header,
    "conversation_in_metadata": in_metadata,
}


@pytest.mark.parametrize("delivery", DELIVERIES)
@pytest.mark.parametrize("way", WAYS)
def test_three_turns(
    tenant: Tenant, loop: asyncio.Runner, scene: Scene, echo: Echo, way: str, delivery: str
) -> None:
    conversation, more = WAYS[way](tenant)
    talk = Talk(DELIVERIES[delivery](tenant, loop), echo, {"model": scene.model, **more})

    dialogue = hold_dialogue(scene, talk.say, echo)

    if scene.model == "sim":
        return
    assert_each_item_once(tenant, dialogue)
    if conversation:
        assert_conversation_holds(tenant, conversation, dialogue)


@pytest.mark.parametrize("delivery", DELIVERIES)
def test_thinking_goes_back(
    tenant: Tenant, loop: asyncio.Runner, echo: Echo, delivery: str
) -> None:
    create = DELIVERIES[delivery](tenant, loop)
    talk = Talk(create, echo, {"model": "fake-model", **THINKING})
    assert "hello" in talk.say(ECHO)

    [thought] = [block for block in talk.received[0].content if block.type == "thinking"]
    assert "tool" in thought.thinking
    assert thought.signature
    kinds = tenant.model_requests()[1].kinds
    assert kinds == ["user", "reasoning", "function_call", "function_call_output"]


def test_events_of_a_stream(tenant: Tenant, loop: asyncio.Runner) -> None:
    params = {"model": "fake-model", "max_tokens": 100, "messages": [user(FACT)]}
    with blocking_client(tenant).messages.create(stream=True, **params) as stream:
        assert_events([event.type for event in stream])

    async def types() -> list[str]:
        stream = await async_client(tenant).messages.create(stream=True, **params)
        return [event.type async for event in stream]

    assert_events(loop.run(types()))


def test_tokens_are_counted(tenant: Tenant) -> None:
    counted = blocking_client(tenant).messages.count_tokens(
        model="sim", messages=[user(FACT)], tools=[ECHO_TOOL], system="Be brief."
    )
    assert counted.input_tokens > 10


def test_models_are_listed(tenant: Tenant) -> None:
    client = blocking_client(tenant)
    listed = {model.id: model for model in client.models.list()}
    assert {"fake-model", "sim"} <= set(listed)
    assert client.models.retrieve("sim") == listed["sim"]
    assert listed["sim"].type == "model"


def test_errors_have_their_classes(tenant: Tenant) -> None:
    client = blocking_client(tenant)
    params = {"model": "sim", "max_tokens": 100, "messages": [user(FACT)]}
    with pytest.raises(NotFoundError, match="conv_unknown") as unknown:
        client.messages.create(**params, metadata={"conversation": "conv_unknown"})
    assert unknown.value.request_id
    with pytest.raises(BadRequestError, match="at least one message is required"):
        client.messages.create(**{**params, "messages": []})


def test_a_history_that_anthropic_rejects(tenant: Tenant) -> None:
    """An empty text, and a result that comes late."""
    call = {"type": "tool_use", "id": "call_1", "name": "echo", "input": {"text": "hello"}}
    result = {"type": "tool_result", "tool_use_id": "call_1", "content": "hello"}
    messages = [
        user([{"type": "text", "text": FACT}, {"type": "text", "text": ""}]),
        {"role": "assistant", "content": [call]},
        user("One moment."),
        user([result, {"type": "text", "text": RECALL}]),
    ]
    client = blocking_client(tenant)
    answer = client.messages.create(
        model="fake-model", max_tokens=100, messages=messages, tools=[ECHO_TOOL]
    )
    assert "purple" in answer.content[0].text
    assert tenant.model_requests()[-1].refusal is None


class Talk:
    """A client's history, and the loop that runs the tools."""

    def __init__(self, create: Create, echo: Echo, params: dict[str, Any]) -> None:
        self.create = create
        self.echo = echo
        self.params = {"max_tokens": 2048, "tools": [ECHO_TOOL], **params}
        self.messages: list[Any] = []
        self.received: list[Message] = []

    def say(self, text: str) -> str:
        """Asks, runs the tools that are called until none is, and returns the answer."""
        self.messages.append(user(text))
        while True:
            message = self.create(messages=self.messages, **self.params)
            self.received.append(message)
            self.messages.append({"role": "assistant", "content": message.content})
            if message.stop_reason != "tool_use":
                return "".join(block.text for block in message.content if block.type == "text")
            calls = [block for block in message.content if block.type == "tool_use"]
            self.messages.append(user([self.result_of(call) for call in calls]))

    def result_of(self, call: Any) -> dict[str, Any]:
        content = self.echo(**call.input)
        return {"type": "tool_result", "tool_use_id": call.id, "content": content}


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}
