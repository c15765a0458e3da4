"""A workflow whose agents have separate clients and pass the conversation to each other."""

import asyncio
from collections.abc import Callable
from typing import Any

import antiphon.agent_framework
import pytest
from agent_framework import Agent, AgentExecutor, WorkflowBuilder
from agent_framework_openai import OpenAIChatClient as PlainChatClient
from agent_framework_openai import OpenAIChatCompletionClient
from antiphon.agent_framework import OpenAIChatClient, stateful
from openai import AsyncOpenAI
from provider import Item, Provider

ASKED = "Hello there"
ANSWERS = ["The first has read it.", "So has the second.", "The first again.", "The end."]
SPOKEN: list[Item] = [{"answer": [{"message": answer}]} for answer in ANSWERS]

Made = Callable[[], PlainChatClient[Any]]


def plain_client() -> PlainChatClient[Any]:
    return PlainChatClient("fake-model", async_client=AsyncOpenAI(max_retries=0))


def stateful_client() -> PlainChatClient[Any]:
    return OpenAIChatClient("fake-model", async_client=AsyncOpenAI(max_retries=0))


async def hand_back(make: Made) -> None:
    """The first agent passes the conversation to the second, receives it, and passes it again."""
    first = AgentExecutor(Agent(client=make(), name="first"), id="first")
    second = AgentExecutor(Agent(client=make(), name="second"), id="second")
    back = iter([True, False])
    builder = WorkflowBuilder(start_executor=first).add_edge(first, second)
    builder.add_edge(second, first, condition=lambda _: next(back))
    await builder.build().run(ASKED)


def texts(given: list[Item]) -> list[str]:
    """The texts of the items in order."""
    return ["".join(part["text"] for part in item["content"]) for item in given]


@pytest.mark.parametrize("script", [SPOKEN], ids=["spoken"])
def test_unwrapped_workflow_reads_messages_twice(provider: Provider) -> None:
    asyncio.run(hand_back(plain_client))

    assert f"user: {ASKED}" in provider.twice()


@pytest.mark.parametrize("script", [SPOKEN], ids=["spoken"])
def test_wrapped_workflow_reads_messages_once(provider: Provider) -> None:
    asyncio.run(hand_back(stateful_client))

    assert provider.refusals() == provider.twice() == []
    said = [ASKED, *ANSWERS]
    assert [texts(given) for given in provider.turns()] == [said[: n + 1] for n in range(4)]


@pytest.mark.parametrize(
    "client",
    [
        None,
        AsyncOpenAI(api_key="any"),
        OpenAIChatClient,
        OpenAIChatCompletionClient("m", api_key="any"),
    ],
    ids=["none", "openai", "class", "completions"],
)
def test_other_chat_clients_are_rejected(client: Any) -> None:
    with pytest.raises(TypeError, match="^client must be a RawOpenAIChatClient"):
        stateful(client)


def test_whole_is_an_alias_of_stateful() -> None:
    assert antiphon.agent_framework.whole is stateful
    assert {"stateful", "whole"} <= set(antiphon.agent_framework.__all__)
