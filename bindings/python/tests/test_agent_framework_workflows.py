"""Agents of a workflow with clients of their own, which hand the whole conversation on and back."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from agent_framework import Agent, AgentExecutor, WorkflowBuilder
from agent_framework_openai import OpenAIChatClient as PlainChatClient
from agent_framework_openai import OpenAIChatCompletionClient
from antiphon.agent_framework import OpenAIChatClient, whole
from openai import AsyncOpenAI
from provider import Item, Provider

ASKED = "Hello there"
ANSWERS = ["The first has read it.", "So has the second.", "The first again.", "The end."]
SPOKEN: list[Item] = [{"answer": [{"message": answer}]} for answer in ANSWERS]

Made = Callable[[], PlainChatClient[Any]]


def plain_client() -> PlainChatClient[Any]:
    return PlainChatClient("fake-model", async_client=AsyncOpenAI(max_retries=0))


def whole_client() -> PlainChatClient[Any]:
    return OpenAIChatClient("fake-model", async_client=AsyncOpenAI(max_retries=0))


async def hand_back(make: Made) -> None:
    """The first agent hands the conversation to the second, gets it back, and hands it on again."""
    first = AgentExecutor(Agent(client=make(), name="first"), id="first")
    second = AgentExecutor(Agent(client=make(), name="second"), id="second")
    back = iter([True, False])
    builder = WorkflowBuilder(start_executor=first).add_edge(first, second)
    builder.add_edge(second, first, condition=lambda _: next(back))
    await builder.build().run(ASKED)


def texts(given: list[Item]) -> list[str]:
    """What was said, in order."""
    return ["".join(part["text"] for part in item["content"]) for item in given]


@pytest.mark.parametrize("script", [SPOKEN], ids=["spoken"])
def test_without_it_what_comes_back_is_read_twice(provider: Provider) -> None:
    asyncio.run(hand_back(plain_client))

    assert f"user: {ASKED}" in provider.twice()


@pytest.mark.parametrize("script", [SPOKEN], ids=["spoken"])
def test_what_comes_back_is_read_once(provider: Provider) -> None:
    asyncio.run(hand_back(whole_client))

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
def test_what_is_no_chat_client_of_the_responses_api(client: Any) -> None:
    with pytest.raises(TypeError, match="^whole takes a chat client of Agent Framework's"):
        whole(client)
