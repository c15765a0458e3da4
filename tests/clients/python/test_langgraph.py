"""LangGraph agents made by LangChain's `create_agent`, on ChatOpenAI with the Responses API."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver

from conftest import but_long
from context import (
    LOST_BY_OLDEST,
    Tenant,
    assert_conversation_holds,
    assert_each_item_once,
    assert_only_new_is_sent,
)
from dialogue import ECHO, FACT, RECALL, Echo, Scene, hold_dialogue
from leaving import (
    MOMENTS,
    Moment,
    ToolFailed,
    assert_gone_on,
    assert_recalled,
    failing_tool,
)

TIMEOUT = 20

Agent = Any
Tool = Callable[[str], str]
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
    "replay_unstored_encrypted": Way(
        {"store": False, "include": ENCRYPTED}, loses=LOST_BY_OLDEST
    ),
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
        assert_only_new_is_sent(tenant, dialogue)


USUAL = ["conversation_and_checkpoints", "previous_response_id", "replay_stored"]


@pytest.mark.parametrize("moment", [m for m in MOMENTS if not m.late_output], ids=str)
@pytest.mark.parametrize("way", but_long(WAYS, USUAL))
def test_a_stream_that_is_left(
    tenant: Tenant, loop: asyncio.Runner, echo: Echo, way: str, moment: Moment
) -> None:
    agent, config = new_agent(tenant, echo, WAYS[way])
    ask = invoked_async(agent, config, loop)
    ask(FACT)

    tenant.stop_next_answer(moment.place)
    loop.run(leave(agent, config, moment))

    assert_recalled(ask(RECALL).text)
    assert_gone_on(tenant, [FACT, moment.said, RECALL])


async def leave(agent: Agent, config: Any, moment: Moment) -> None:
    """Leaves a stream. (One that is not asynchronous waits for its model's thread.)"""
    stream = agent.astream(said(moment.said), config, stream_mode="messages")
    async for piece, _ in stream:
        if told_by(piece, moment):
            break
    await stream.aclose()


def told_by(piece: Any, moment: Moment) -> bool:
    blocks = piece.content if isinstance(piece.content, list) else []
    kinds = {block["type"] for block in blocks}
    match moment.place:
        case "in_reasoning":
            return "reasoning" in kinds
        case "in_text":
            return "text" in kinds
        case _:
            return any(chunk["args"] for chunk in piece.tool_call_chunks)


@pytest.mark.parametrize("way", but_long(WAYS, USUAL))
def test_a_tool_that_raises(tenant: Tenant, way: str) -> None:
    agent, config = new_agent(tenant, failing_tool, WAYS[way])
    ask = invoked(agent, config, None)
    ask(FACT)

    with pytest.raises(ToolFailed):
        ask(ECHO)

    assert_recalled(ask(RECALL).text)
    assert_gone_on(tenant, [FACT, ECHO, RECALL])


@pytest.mark.parametrize("way", [name for name, way in WAYS.items() if way.checkpoints])
def test_a_checkpoint_that_ends_in_lone_reasoning(tenant: Tenant, echo: Echo, way: str) -> None:
    """A graph may keep what a broken-off turn had said so far: reasoning that nothing follows."""
    agent, config = new_agent(tenant, echo, WAYS[way])
    ask = invoked(agent, config, None)
    ask(FACT)
    reasoning = {
        "type": "reasoning",
        "id": "rs_0123456789abcdef",
        "summary": [{"type": "summary_text", "text": "Echo it."}],
    }
    broken_off = [HumanMessage(ECHO), AIMessage([reasoning])]
    agent.update_state(config, {"messages": broken_off})

    assert_recalled(ask(RECALL).text)
    assert_gone_on(tenant, [FACT, ECHO, RECALL])


def new_agent(tenant: Tenant, echo: Tool, way: Way) -> tuple[Agent, Any]:
    """An agent, and the configuration of its only thread."""
    conversation = tenant.new_conversation() if way.in_conversation else None
    agent = make_agent(tenant, Scene("fake-model"), echo, way, conversation)
    return agent, {"configurable": {"thread_id": "the only one"}, "recursion_limit": 10}


def make_agent(
    tenant: Tenant, scene: Scene, echo: Tool, way: Way, conversation: str | None
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


def echo_tool(echo: Tool) -> Any:
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
