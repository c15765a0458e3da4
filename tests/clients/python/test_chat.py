"""The openai library's chat completions, LangChain's default chat model, and LiteLLM.

Each resends its whole history with every request.
"""

import asyncio
import os
from collections.abc import Callable
from functools import reduce
from json import loads
from operator import add
from typing import Any

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm
import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI
from openai.lib.streaming.chat import ChatCompletionStreamState

from context import Tenant, assert_conversation_holds, assert_each_item_once
from dialogue import Echo, Scene, hold_dialogue
from openai_delivery import TIMEOUT, async_client, blocking_client

TOOL = {
    "type": "function",
    "function": {
        "name": "echo",
        "description": "Says it again.",
        "strict": True,
        "parameters": {
            "type": "object",
            "properties": {"text": {"type": "string"}},
            "required": ["text"],
            "additionalProperties": False,
        },
    },
}

# These clients do not return reasoning.
WITHOUT_REASONING = frozenset({"reasoning"})

Complete = Callable[..., dict[str, Any]]


def created(tenant: Tenant, _loop: asyncio.Runner) -> Complete:
    client = blocking_client(tenant)
    return lambda **params: resent(client.chat.completions.create(**params))


def streamed(tenant: Tenant, _loop: asyncio.Runner) -> Complete:
    client = blocking_client(tenant)

    def complete(**params: Any) -> dict[str, Any]:
        state = ChatCompletionStreamState()
        for chunk in client.chat.completions.create(stream=True, **params):
            state.handle_chunk(chunk)
        return resent(state.get_final_completion())

    return complete


def stream_helper(tenant: Tenant, _loop: asyncio.Runner) -> Complete:
    client = blocking_client(tenant)

    def complete(**params: Any) -> dict[str, Any]:
        with client.chat.completions.stream(**params) as stream:
            return resent(stream.get_final_completion())

    return complete


def parsed(tenant: Tenant, _loop: asyncio.Runner) -> Complete:
    client = blocking_client(tenant)
    return lambda **params: resent(client.chat.completions.parse(**params))


def created_async(tenant: Tenant, loop: asyncio.Runner) -> Complete:
    client = async_client(tenant)
    return lambda **params: resent(loop.run(client.chat.completions.create(**params)))


def stream_helper_async(tenant: Tenant, loop: asyncio.Runner) -> Complete:
    client = async_client(tenant)

    async def complete(**params: Any) -> dict[str, Any]:
        async with client.chat.completions.stream(**params) as stream:
            return resent(await stream.get_final_completion())

    return lambda **params: loop.run(complete(**params))


def resent(completion: Any) -> dict[str, Any]:
    """The message of an answer as a client resends it, without the library's own fields."""
    message = completion.choices[0].message.model_dump(exclude_none=True)
    message.pop("parsed", None)
    for call in message.get("tool_calls") or []:
        call.pop("index", None)
        call["function"].pop("parsed_arguments", None)
    if not message.get("tool_calls"):
        message.pop("tool_calls", None)
    return message


DELIVERIES = [created, streamed, stream_helper, parsed, created_async, stream_helper_async]


@pytest.mark.parametrize("delivery", DELIVERIES)
def test_three_turns(
    tenant: Tenant,
    scene: Scene,
    echo: Echo,
    loop: asyncio.Runner,
    delivery: Callable[[Tenant, asyncio.Runner], Complete],
) -> None:
    ask = asking(delivery(tenant, loop), scene, echo)

    dialogue = hold_dialogue(scene, ask, echo)

    if scene.model != "sim":
        assert_each_item_once(tenant, dialogue)


@pytest.mark.parametrize("delivery", [created, stream_helper])
def test_three_turns_in_a_conversation(
    tenant: Tenant,
    scene: Scene,
    echo: Echo,
    loop: asyncio.Runner,
    delivery: Callable[[Tenant, asyncio.Runner], Complete],
) -> None:
    conversation = tenant.new_conversation()
    headers = {"antiphon-conversation": conversation}
    ask = asking(delivery(tenant, loop), scene, echo, extra_headers=headers)

    dialogue = hold_dialogue(scene, ask, echo)

    if scene.model != "sim":
        assert_each_item_once(tenant, dialogue)
        assert_conversation_holds(tenant, conversation, dialogue)


@pytest.mark.parametrize("is_stream", [False, True], ids=["invoke", "stream"])
def test_langchain(tenant: Tenant, scene: Scene, echo: Echo, is_stream: bool) -> None:
    model: Any = ChatOpenAI(
        model=scene.model,
        base_url=tenant.base_url,
        api_key=tenant.api_key,
        timeout=TIMEOUT,
        use_responses_api=False,
        reasoning_effort="none",
    ).bind_tools([TOOL])
    messages: list[Any] = []

    def turn() -> AIMessage:
        answer = reduce(add, model.stream(messages)) if is_stream else model.invoke(messages)
        messages.append(answer)
        return answer

    def ask(text: str) -> str:
        messages.append(HumanMessage(text))
        while calls := turn().tool_calls:
            for call in calls:
                messages.append(ToolMessage(echo(**call["args"]), tool_call_id=call["id"]))
        return messages[-1].text

    dialogue = hold_dialogue(scene, ask, echo)

    if scene.model != "sim":
        assert_each_item_once(tenant, dialogue, WITHOUT_REASONING)


@pytest.mark.parametrize("is_stream", [False, True], ids=["completion", "stream"])
def test_litellm(tenant: Tenant, scene: Scene, echo: Echo, is_stream: bool) -> None:
    def complete(**params: Any) -> dict[str, Any]:
        params["model"] = f"openai/{params['model']}"
        answer = litellm.completion(
            api_base=tenant.base_url,
            api_key=tenant.api_key,
            timeout=TIMEOUT,
            stream=is_stream,
            allowed_openai_params=["reasoning_effort"],
            reasoning_effort="none",
            **params,
        )
        if is_stream:
            answer = litellm.stream_chunk_builder(list(answer))
        message = answer.choices[0].message
        kept = {"role": "assistant", "content": message.content}
        if message.tool_calls:
            kept["tool_calls"] = [call.model_dump() for call in message.tool_calls]
        return kept

    dialogue = hold_dialogue(scene, asking(complete, scene, echo), echo)

    if scene.model != "sim":
        assert_each_item_once(tenant, dialogue, WITHOUT_REASONING)


def asking(complete: Complete, scene: Scene, echo: Echo, **options: Any) -> Callable[[str], str]:
    """A loop that runs the tool and resends all messages."""
    messages: list[dict[str, Any]] = []

    def turn() -> dict[str, Any]:
        message = complete(model=scene.model, messages=messages, tools=[TOOL], **options)
        messages.append(message)
        return message

    def ask(text: str) -> str:
        messages.append({"role": "user", "content": text})
        while calls := turn().get("tool_calls"):
            for call in calls:
                output = echo(**loads(call["function"]["arguments"]))
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": output})
        return messages[-1]["content"]

    return ask
