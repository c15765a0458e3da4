"""Agent Framework, on its OpenAI chat client, which speaks the Responses API."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
from agent_framework import Agent, AgentResponse, AgentSession, InMemoryHistoryProvider, tool
from agent_framework_openai import OpenAIChatClient

from context import (
    LOST_BY_OLDEST,
    Tenant,
    assert_conversation_holds,
    assert_each_item_once,
    assert_only_new_is_sent,
)
from dialogue import ECHO, FACT, RECALL, Echo, Scene, hold_dialogue
from leaving import MOMENTS, Moment, assert_gone_on, assert_recalled, failing_tool, whole_dialogue
from openai_delivery import async_client

Tool = Callable[[str], str]
Delivery = Callable[[Agent, str, AgentSession], Awaitable[AgentResponse]]


@dataclass(frozen=True)
class Way:
    """Who keeps the conversation: the gateway, a history provider of the framework, or both."""

    in_conversation: bool = False
    history: bool = False
    options: dict[str, Any] = field(default_factory=dict)
    loses: frozenset[str] = frozenset()


WAYS = {
    "conversation": Way(in_conversation=True),
    "response_chain": Way(),
    "local_history": Way(options={"store": False}, loses=LOST_BY_OLDEST),
    # The provider's messages come without ids, calls and reasoning, beside what the gateway holds.
    "history_beside_conversation": Way(in_conversation=True, history=True),
    "history_beside_response_chain": Way(history=True),
}


async def run(agent: Agent, text: str, session: AgentSession) -> AgentResponse:
    return await agent.run(text, session=session)


async def run_streamed(agent: Agent, text: str, session: AgentSession) -> AgentResponse:
    """A streamed run, whose pieces add up to its final answer.

    Newer versions send the finished text too, which replaces the pieces.
    """
    stream = agent.run(text, session=session, stream=True)
    contents = [content async for update in stream for content in update.contents]
    texts = [content for content in contents if content.type == "text"]
    pieces = [c.text for c in texts if getattr(c, "merge_mode", "append") == "append"]
    response = await stream.get_final_response()
    assert "".join(pieces) == response.text
    return response


@pytest.mark.parametrize("delivery", [run, run_streamed])
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
def test_three_turns(
    tenant: Tenant, loop: asyncio.Runner, scene: Scene, echo: Echo, way: Way, delivery: Delivery
) -> None:
    agent = make_agent(tenant, scene, echo, way)
    conversation = tenant.new_conversation() if way.in_conversation else None
    session = agent.get_session(conversation) if conversation else agent.create_session()

    dialogue = hold_dialogue(
        scene, lambda text: loop.run(delivery(agent, text, session)).text, echo
    )

    if scene.model == "sim":
        return
    assert_each_item_once(tenant, dialogue, without=way.loses)
    if conversation:
        assert session.service_session_id == conversation
        assert_conversation_holds(tenant, conversation, dialogue)
        assert_only_new_is_sent(tenant, dialogue)


@pytest.mark.parametrize("moment", [m for m in MOMENTS if not m.late_output], ids=str)
@pytest.mark.parametrize("way", ["conversation", "history_beside_conversation"])
def test_a_stream_that_is_left(
    tenant: Tenant, loop: asyncio.Runner, echo: Echo, way: str, moment: Moment
) -> None:
    agent = make_agent(tenant, Scene("fake-model"), echo, WAYS[way])
    session = agent.get_session(tenant.new_conversation())
    loop.run(run(agent, FACT, session))

    tenant.stop_next_answer(moment.place)
    loop.run(leave(agent, session, moment))

    assert_recalled(loop.run(run(agent, RECALL, session)).text)
    assert_gone_on(tenant, whole_dialogue(moment))


async def leave(agent: Agent, session: AgentSession, moment: Moment) -> None:
    """Reads a stream in a task, which is cancelled where the upstream stops."""
    kinds = {"in_reasoning": "text_reasoning", "in_text": "text"}
    awaited = kinds.get(moment.place, "function_call")
    told = asyncio.Event()

    async def read() -> None:
        async for update in agent.run(moment.said, session=session, stream=True):
            if any(content.type == awaited for content in update.contents):
                told.set()

    reading = asyncio.create_task(read())
    await told.wait()
    reading.cancel()
    with suppress(asyncio.CancelledError):
        await reading


@pytest.mark.parametrize("delivery", [run, run_streamed])
@pytest.mark.parametrize("way", WAYS)
def test_a_tool_that_raises(
    tenant: Tenant, loop: asyncio.Runner, way: str, delivery: Delivery
) -> None:
    """The framework tells the model of it, and goes on."""
    agent = make_agent(tenant, Scene("fake-model"), failing_tool, WAYS[way])
    in_conversation = WAYS[way].in_conversation
    session = (
        agent.get_session(tenant.new_conversation()) if in_conversation else agent.create_session()
    )
    for text in (FACT, ECHO):
        loop.run(delivery(agent, text, session))

    assert_recalled(loop.run(delivery(agent, RECALL, session)).text)
    assert_gone_on(tenant, [FACT, ECHO, RECALL])


def make_agent(tenant: Tenant, scene: Scene, echo: Tool, way: Way) -> Agent:
    return Agent(
        client=OpenAIChatClient(scene.model, async_client=async_client(tenant)),
        tools=[echo_tool(echo)],
        default_options=way.options,
        context_providers=[InMemoryHistoryProvider()] if way.history else None,
    )


def echo_tool(echo: Tool) -> Any:
    @tool(name="echo", approval_mode="never_require")
    def say_again(text: str) -> str:
        """Says the text again."""
        return echo(text)

    return say_again
