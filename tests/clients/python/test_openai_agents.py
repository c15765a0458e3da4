"""The openai-agents library: its runner, with every owner of the conversation that it knows."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from agents import (
    Agent,
    FunctionTool,
    OpenAIResponsesCompactionSession,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    SQLiteSession,
    UserError,
    function_tool,
)
from agents.result import RunResultBase
from openai import AsyncOpenAI

from agents_state import WAYS, Chained, InSession, State, Way
from context import Tenant, assert_conversation_holds, assert_each_item_once
from dialogue import ECHO, FACT, RECALL, Echo, Scene, hold_dialogue
from leaving import (
    MOMENTS,
    Moment,
    assert_gone_on,
    assert_recalled,
    failing_tool,
    whole_dialogue,
)
from openai_delivery import async_client

# Traces would be sent to a service that has nothing to do with the gateway.
OPTIONS: dict[str, Any] = {"run_config": RunConfig(tracing_disabled=True), "max_turns": 5}

Tool = Callable[[str], str]
Delivery = Callable[..., Awaitable[RunResultBase]]


async def run(agent: Agent, given: Any, **params: Any) -> RunResultBase:
    return await Runner.run(agent, given, **params, **OPTIONS)


async def run_streamed(agent: Agent, given: Any, **params: Any) -> RunResultBase:
    """A streamed run, whose items were announced once each."""
    result = Runner.run_streamed(agent, given, **params, **OPTIONS)
    events = [event async for event in result.stream_events()]
    announced = [event.item for event in events if event.type == "run_item_stream_event"]
    assert [item.type for item in announced] == [item.type for item in result.new_items]
    return result


@pytest.mark.parametrize("delivery", [run, run_streamed])
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
def test_three_turns(
    tenant: Tenant,
    loop: asyncio.Runner,
    scene: Scene,
    echo: Echo,
    way: Way,
    delivery: Delivery,
) -> None:
    client = async_client(tenant)
    state = way.new_state(tenant, client)
    agent = make_agent(client, scene, echo, way)

    dialogue = hold_dialogue(scene, asking(loop, delivery, agent, state), echo)

    if scene.model == "sim":
        return
    assert_each_item_once(tenant, dialogue, without=way.loses)
    if conversation := getattr(state, "conversation", None):
        assert_conversation_holds(tenant, conversation, dialogue)


# Ways that go on from what the gateway has heard, or from what the library has kept.
HELD = ["conversation_id", "previous_response_id", "conversations_session", "sqlite_session"]


@pytest.mark.parametrize("moment", [m for m in MOMENTS if not m.late_output], ids=str)
@pytest.mark.parametrize("way", HELD)
def test_a_run_that_is_left(
    tenant: Tenant, loop: asyncio.Runner, echo: Echo, way: str, moment: Moment
) -> None:
    client = async_client(tenant)
    state = WAYS[way].new_state(tenant, client)
    agent = make_agent(client, Scene("fake-model"), echo, WAYS[way])
    ask = asking(loop, run_streamed, agent, state)
    ask(FACT)

    tenant.stop_next_answer(moment.place)
    loop.run(leave(agent, state, moment))

    assert_recalled(ask(RECALL))
    assert_gone_on(tenant, whole_dialogue(moment))


async def leave(agent: Agent, state: State, moment: Moment) -> None:
    """A streamed run that is left, and adopted by the id that its response was announced with."""
    result = Runner.run_streamed(agent, state.run_input(moment.said), **state.params(), **OPTIONS)
    async for event in result.stream_events():
        if event.type != "raw_response_event":
            continue
        if event.data.type == "response.created" and isinstance(state, Chained):
            state.last = event.data.response.id
        if moment.is_told_by(event.data):
            break
    result.cancel()


@pytest.mark.parametrize("delivery", [run, run_streamed])
@pytest.mark.parametrize("way", HELD)
def test_a_tool_that_raises(
    tenant: Tenant, loop: asyncio.Runner, way: str, delivery: Delivery
) -> None:
    client = async_client(tenant)
    state = WAYS[way].new_state(tenant, client)
    agent = make_agent(client, Scene("fake-model"), failing_tool, WAYS[way])
    ask = asking(loop, delivery, agent, state)
    ask(FACT)

    with pytest.raises(UserError, match="Error running tool echo"):
        ask(ECHO)

    assert_recalled(ask(RECALL))
    said = [FACT, RECALL] if isinstance(state, Chained) else [FACT, ECHO, RECALL]
    assert_gone_on(tenant, said)


@pytest.mark.parametrize("delivery", [run, run_streamed])
@pytest.mark.parametrize("way", WAYS)
def test_a_run_that_stops_at_its_first_tool(
    tenant: Tenant, loop: asyncio.Runner, echo: Echo, way: str, delivery: Delivery
) -> None:
    client = async_client(tenant)
    state = WAYS[way].new_state(tenant, client)
    agent = make_agent(client, Scene("fake-model"), echo, WAYS[way])
    agent.tool_use_behavior = "stop_on_first_tool"
    ask = asking(loop, delivery, agent, state)
    ask(FACT)

    assert ask(ECHO) == "hello"

    assert_recalled(ask(RECALL))
    assert_gone_on(tenant, [FACT, ECHO, RECALL])


# The provider that keeps the state compacts nothing.
@pytest.mark.stateless
@pytest.mark.parametrize("delivery", [run, run_streamed])
@pytest.mark.parametrize("mode", ["input", "previous_response_id"])
def test_a_session_that_is_compacted_after_every_turn(
    tenant: Tenant,
    loop: asyncio.Runner,
    scene: Scene,
    echo: Echo,
    mode: str,
    delivery: Delivery,
) -> None:
    client = async_client(tenant)
    kept = SQLiteSession("the only one")
    session = OpenAIResponsesCompactionSession(
        "the only one",
        kept,
        client=client,
        model="gpt-fake",
        compaction_mode=mode,
        should_trigger_compaction=lambda _: True,
    )
    way = WAYS["sqlite_session"]
    state = InSession(session)

    hold_dialogue(scene, asking(loop, delivery, make_agent(client, scene, echo, way), state), echo)

    items = loop.run(kept.get_items())
    assert [item.get("type", "message") for item in items] == ["message"] * 3 + ["compaction"]
    said = [part["text"] for item in items[:3] for part in item["content"]]
    assert said == scene.said


def asking(
    loop: asyncio.Runner, delivery: Delivery, agent: Agent, state: State
) -> Callable[[str], str]:
    def ask(text: str) -> str:
        result = loop.run(delivery(agent, state.run_input(text), **state.params()))
        state.accept(result)
        return result.final_output_as(str, raise_if_incorrect_type=True)

    return ask


def make_agent(client: AsyncOpenAI, scene: Scene, echo: Tool, way: Way) -> Agent:
    model = OpenAIResponsesModel(scene.model, client)
    return Agent("echoing", model=model, model_settings=way.settings, tools=[echo_tool(echo)])


def echo_tool(echo: Tool) -> FunctionTool:
    @function_tool(name_override="echo", failure_error_function=None)
    def say_again(text: str) -> str:
        """Says the text again."""
        return echo(text)

    return say_again
