"""Agents of LangChain and LangGraph on `ChatOpenAI`, in a conversation."""

import asyncio
from collections.abc import Callable
from typing import Any

import langchain_openai
import openai
import pytest
from langchain.agents import create_agent
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel

from antiphon.langchain import ChatOpenAI
from antiphon.langgraph import MendHistory
from langchain_story import (
    ECHO,
    FACT,
    MODEL,
    RECALL,
    assert_dialogue_is_complete,
    assert_gone_on,
    echo,
    hold_dialogue,
    kinds,
)
from langgraph_story import AGENTS, DELIVERIES, THREAD, said
from provider import Provider


@pytest.mark.parametrize("delivery", DELIVERIES)
@pytest.mark.parametrize("agents", AGENTS)
def test_unwrapped_model_breaks_after_a_tool(
    provider: Provider, loop: asyncio.Runner, agents: str, delivery: str
) -> None:
    conversation = provider.new_conversation()
    model = langchain_openai.ChatOpenAI(
        model=MODEL, use_responses_api=True, model_kwargs={"conversation": conversation}
    )
    ask = DELIVERIES[delivery](AGENTS[agents](model, [echo]), loop)
    ask(FACT)

    with pytest.raises(openai.BadRequestError, match=r"Duplicate item found with id (fc|rs)_"):
        ask(ECHO)
    with pytest.raises(openai.BadRequestError, match="No tool output found for function call"):
        ask(RECALL)


@pytest.mark.parametrize("calls", [1, 2])
@pytest.mark.parametrize("checkpoints", [True, False])
@pytest.mark.parametrize("delivery", DELIVERIES)
@pytest.mark.parametrize("agents", AGENTS)
def test_three_turns(
    provider: Provider,
    loop: asyncio.Runner,
    agents: str,
    delivery: str,
    checkpoints: bool,
    calls: int,
) -> None:
    conversation = provider.new_conversation()
    model = ChatOpenAI(model=MODEL, conversation=conversation)
    checkpointer = InMemorySaver() if checkpoints else None
    agent = AGENTS[agents](model, [echo], checkpointer=checkpointer)

    hold_dialogue(DELIVERIES[delivery](agent, loop), calls)

    assert_dialogue_is_complete(provider, conversation, calls)


def test_another_process_continues_from_checkpoints(provider: Provider) -> None:
    conversation, checkpointer = provider.new_conversation(), InMemorySaver()

    def ask(text: str) -> str:
        http_client = openai.DefaultHttpxClient()
        model = ChatOpenAI(model=MODEL, conversation=conversation, http_client=http_client)
        agent = create_agent(model, [echo], checkpointer=checkpointer)
        return str(agent.invoke(said(text), THREAD)["messages"][-1].text)

    hold_dialogue(ask)

    assert_dialogue_is_complete(provider, conversation)


def test_model_bound_to_tools_and_conversation(provider: Provider) -> None:
    conversation = provider.new_conversation()
    model: Any = ChatOpenAI(model=MODEL).bind_tools([echo]).bind(conversation={"id": conversation})
    agent = AGENTS["create_react_agent"](model, [echo])

    hold_dialogue(lambda text: str(agent.invoke(said(text), THREAD)["messages"][-1].text))

    assert_dialogue_is_complete(provider, conversation)


@pytest.mark.parametrize("on_abort", ["part", "whole", "nothing"])
@pytest.mark.parametrize("place", ["in_reasoning", "in_arguments", "behind_call"])
@pytest.mark.parametrize("agents", AGENTS)
def test_abandoned_stream_is_repaired(
    provider: Provider, loop: asyncio.Runner, agents: str, place: str
) -> None:
    """Before Python 3.12, LangChain's own timeout can lose a cancellation."""
    conversation = provider.new_conversation()
    model = ChatOpenAI(model=MODEL, conversation=conversation, stream_chunk_timeout=None)
    agent = AGENTS[agents](model, [echo], checkpointer=InMemorySaver())
    ask = DELIVERIES["ainvoke"](agent, loop)
    ask(FACT)

    provider.hold(place)
    loop.run(leave(agent, lambda piece: is_at(piece, place)))

    assert ask(RECALL) == "purple, Biscuit"
    assert_gone_on(provider)


async def leave(agent: Any, is_enough: Callable[[Any], bool]) -> None:
    stream = agent.astream(said(ECHO), THREAD, stream_mode="messages")
    async for piece, _ in stream:
        if is_enough(piece):
            break
    await stream.aclose()


def is_at(piece: Any, place: str) -> bool:
    if place == "in_reasoning":
        return "reasoning" in {block["type"] for block in piece.content}
    return any(chunk["args"] for chunk in piece.tool_call_chunks)


class ToolFailed(Exception):
    """A tool raises, and so does the run that called it."""


@tool("echo")
def fail(text: str) -> str:
    """Returns the text."""
    raise ToolFailed(text)


@pytest.mark.parametrize("middleware", [[], [MendHistory()]])
def test_a_tool_that_fails(provider: Provider, middleware: Any) -> None:
    """The result is the same if `MendHistory` adds the placeholder output first."""
    model = ChatOpenAI(model=MODEL, conversation=provider.new_conversation())
    options = {"middleware": middleware, "checkpointer": InMemorySaver()}
    agent = create_agent(model, [fail], **options)
    agent.invoke(said(FACT), THREAD)
    with pytest.raises(ToolFailed):
        agent.invoke(said(ECHO), THREAD)

    assert agent.invoke(said(RECALL), THREAD)["messages"][-1].text == "purple, Biscuit"
    assert agent.invoke(said(RECALL + "!"), THREAD)["messages"][-1].text == "purple, Biscuit"

    assert kinds(provider.turns()[-1]).count("function_call_output") == 1
    assert [len(items) for items in provider.sent()] == [1, 1, 2, 1]
    assert provider.refusals() == []


class Pet(BaseModel):
    """A pet."""

    name: str


@pytest.mark.parametrize(
    "script", [[{"answer": [{"call": {"name": "Pet", "arguments": {"name": "Biscuit"}}}]}] * 2]
)
def test_a_structured_response(provider: Provider) -> None:
    """The agent adds the output of that call only to its own history."""
    conversation = provider.new_conversation()
    model = ChatOpenAI(model=MODEL, conversation=conversation)
    agent = create_agent(model, [echo], response_format=Pet, checkpointer=InMemorySaver())

    for _ in range(2):
        assert agent.invoke(said(FACT), THREAD)["structured_response"] == Pet(name="Biscuit")
    assert model.invoke(RECALL).text == "purple, Biscuit"

    assert provider.refusals() == []
