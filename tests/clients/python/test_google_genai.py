"""The google-genai library, whose chats hold the history and run the tools."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from google import genai
from google.genai import types
from google.genai.errors import ClientError

from context import Tenant, assert_conversation_holds, assert_each_item_once
from dialogue import ECHO, FACT, Echo, Scene, hold_dialogue

TIMEOUT = 20_000

Ask = Callable[[str], str]


def client_of(tenant: Tenant, headers: dict[str, str] | None = None) -> genai.Client:
    options = types.HttpOptions(base_url=tenant.root, headers=headers, timeout=TIMEOUT)
    return genai.Client(api_key=tenant.api_key, vertexai=False, http_options=options)


def whole(client: genai.Client, _loop: asyncio.Runner, **params: Any) -> Ask:
    chat = client.chats.create(**params)
    return lambda text: chat.send_message(text).text


def streamed(client: genai.Client, _loop: asyncio.Runner, **params: Any) -> Ask:
    chat = client.chats.create(**params)
    return lambda text: "".join(chunk.text or "" for chunk in chat.send_message_stream(text))


def whole_async(client: genai.Client, loop: asyncio.Runner, **params: Any) -> Ask:
    chat = client.aio.chats.create(**params)
    return lambda text: loop.run(chat.send_message(text)).text


def streamed_async(client: genai.Client, loop: asyncio.Runner, **params: Any) -> Ask:
    chat = client.aio.chats.create(**params)

    async def say(text: str) -> str:
        chunks = await chat.send_message_stream(text)
        return "".join([chunk.text or "" async for chunk in chunks])

    return lambda text: loop.run(say(text))


DELIVERIES = {
    "whole": whole,
    "streamed": streamed,
    "async_whole": whole_async,
    "async_streamed": streamed_async,
}


@pytest.mark.parametrize("delivery", DELIVERIES)
@pytest.mark.parametrize("way", ["replay", "conversation"])
def test_three_turns(
    tenant: Tenant, loop: asyncio.Runner, scene: Scene, echo: Echo, way: str, delivery: str
) -> None:
    conversation = tenant.new_conversation() if way == "conversation" else None
    headers = {"antiphon-conversation": conversation} if conversation else None
    client = client_of(tenant, headers)
    config = types.GenerateContentConfig(tools=[tool_of(echo)])
    ask = DELIVERIES[delivery](client, loop, model=scene.model, config=config)

    dialogue = hold_dialogue(scene, ask, echo)

    if scene.model == "sim":
        return
    assert_each_item_once(tenant, dialogue)
    if conversation:
        assert_conversation_holds(tenant, conversation, dialogue)


def test_thoughts_go_back(tenant: Tenant, echo: Echo) -> None:
    thinking = types.ThinkingConfig(include_thoughts=True, thinking_budget=1024)
    config = types.GenerateContentConfig(tools=[tool_of(echo)], thinking_config=thinking)
    # A client that is no longer referred to closes its connections.
    client = client_of(tenant)
    chat = client.chats.create(model="fake-model", config=config)
    assert "hello" in chat.send_message(ECHO).text
    parts = [part for content in chat.get_history() for part in content.parts]
    assert any(part.thought and "tool" in part.text for part in parts)
    [called] = [part for part in parts if part.function_call]
    assert called.thought_signature
    kinds = tenant.model_requests()[1].kinds
    assert kinds == ["user", "reasoning", "function_call", "function_call_output"]


def test_tokens_are_counted(tenant: Tenant) -> None:
    client = client_of(tenant)
    counted = client.models.count_tokens(model="sim", contents=FACT)
    assert counted.total_tokens > 10


def test_models_are_listed(tenant: Tenant) -> None:
    client = client_of(tenant)
    assert {"models/fake-model", "models/sim"} <= {model.name for model in client.models.list()}
    assert client.models.get(model="sim").display_name == "sim"


def test_errors_have_their_class(tenant: Tenant) -> None:
    named = client_of(tenant, {"antiphon-conversation": "conv_unknown"})
    with pytest.raises(ClientError, match="conv_unknown") as unknown:
        named.models.generate_content(model="sim", contents=FACT)
    assert (unknown.value.code, unknown.value.status) == (404, "NOT_FOUND")
    client = client_of(tenant)
    config = types.GenerateContentConfig(response_modalities=["IMAGE"])
    with pytest.raises(ClientError) as invalid:
        client.models.generate_content(model="sim", contents=FACT, config=config)
    assert (invalid.value.code, invalid.value.status) == (400, "INVALID_ARGUMENT")


def tool_of(echo: Echo) -> Callable[[str], str]:
    """The library makes a declaration of a function, and calls it."""

    def say(text: str) -> str:
        """Says the text again."""
        return echo(text)

    say.__name__ = "echo"
    return say
