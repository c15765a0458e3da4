"""LangGraph agents made by LangChain's `create_agent`, on ChatOpenAI with the Responses API."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver

from context import Tenant, assert_conversation_holds, assert_each_item_once
from dialogue import Echo, Scene, hold_dialogue

TIMEOUT = 20

Agent = Any
Ask = Callable[[str], AIMessage]


@dataclass(frozen=True)
class Way:
    """How an agent keeps its conversation, and what the client then leaves out."""

    options: dict[str, Any] = field(default_factory=dict)
    in_conversation: bool = False
    checkpoints: bool = True
    loses: frozenset[str] = frozenset()


ENCRYPTED = ["reasoning.encrypted_content"]

WAYS = {
    # The model's `conversation` beside the graph's own checkpoints: everything is sent every time.
    "conversation_and_checkpoints": Way(in_conversation=True),
    # Only the tool loop sends again what the conversation already has.
    "conversation": Way(in_conversation=True, checkpoints=False),
    "previous_response_id": Way({"use_previous_response_id": True}),
    "replay_stored": Way(),
    "replay_unstored_encrypted": Way({"store": False, "include": ENCRYPTED}),
    # The client leaves out reasoning that it could not send in full.
    "replay_unstored_unencrypted": Way({"store": False}, loses=frozenset({"reasoning"})),
}


def invoked(agent: Agent, config: Any, _loop: asyncio.Runner) -> Ask:
    return lambda text: agent.invoke(said(text), config)["messages"][-1]


def streamed(agent: Agent, config: Any, _loop: asyncio.Runner) -> Ask:
    def ask(text: str) -> AIMessage:
        return last_message(agent.stream(said(text), config, stream_mode=["messages", "values"]))

    return ask


def invoked_async(agent: Agent, config: Any, loop: asyncio.Runner) -> Ask:
    return lambda text: loop.run(agent.ainvoke(said(text), config))["messages"][-1]


def streamed_async(agent: Agent, config: Any, loop: asyncio.Runner) -> Ask:
    async def ask(text: str) -> AIMessage:
        stream = agent.astream(said(text), config, stream_mode=["messages", "values"])
        return last_message([chunk async for chunk in stream])

    return lambda text: loop.run(ask(text))


DELIVERIES = {
    "invoke": invoked,
    "stream": streamed,
    "ainvoke": invoked_async,
    "astream": streamed_async,
}


@pytest.mark.parametrize("delivery", DELIVERIES)
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
def test_three_turns(
    tenant: Tenant, loop: asyncio.Runner, scene: Scene, echo: Echo, way: Way, delivery: str
) -> None:
    conversation = tenant.new_conversation() if way.in_conversation else None
    agent = make_agent(tenant, scene, echo, way, conversation)
    config = {"configurable": {"thread_id": "the only one"}, "recursion_limit": 10}
    ask = DELIVERIES[delivery](agent, config, loop)

    dialogue = hold_dialogue(scene, lambda text: answer(ask(text)), echo)

    if scene.model == "sim":
        return
    assert_each_item_once(tenant, dialogue, without=way.loses)
    if conversation:
        assert_conversation_holds(tenant, conversation, dialogue)


def make_agent(
    tenant: Tenant, scene: Scene, echo: Echo, way: Way, conversation: str | None
) -> Agent:
    model = ChatOpenAI(
        model=scene.model,
        base_url=tenant.base_url,
        api_key=tenant.api_key,
        timeout=TIMEOUT,
        max_retries=0,
        use_responses_api=True,
        model_kwargs={"conversation": conversation} if conversation else {},
        **way.options,
    )
    checkpointer = InMemorySaver() if way.checkpoints else None
    return create_agent(model, [echo_tool(echo)], checkpointer=checkpointer)


def echo_tool(echo: Echo) -> Any:
    @tool("echo")
    def say_again(text: str) -> str:
        """Says the text again."""
        return echo(text)

    return say_again


def said(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


def last_message(chunks: Any) -> AIMessage:
    """The last message of a stream's last state, which came in pieces before it came whole."""
    chunks = list(chunks)
    pieces = [chunk[0] for mode, chunk in chunks if mode == "messages"]
    states = [chunk for mode, chunk in chunks if mode == "values"]
    last = states[-1]["messages"][-1]
    assert "".join(p.text for p in pieces if isinstance(p, AIMessageChunk)) == last.text
    return last


def answer(message: AIMessage) -> str:
    """The text of an answer that the client understood whole."""
    assert isinstance(message, AIMessage)
    assert message.response_metadata["id"].startswith("resp_")
    assert message.usage_metadata is not None
    assert message.tool_calls == []
    assert message.invalid_tool_calls == []
    return message.text
