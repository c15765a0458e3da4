"""The openai-agents library: its runner, with every owner of the conversation that it knows."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from agents import (
    Agent,
    FunctionTool,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    function_tool,
)
from agents.result import RunResultBase
from openai import AsyncOpenAI

from agents_state import WAYS, State, Way
from context import Tenant, assert_conversation_holds, assert_each_item_once
from dialogue import Echo, Scene, hold_dialogue
from openai_delivery import async_client

# Traces would be sent to a service that has nothing to do with the gateway.
OPTIONS: dict[str, Any] = {"run_config": RunConfig(tracing_disabled=True), "max_turns": 5}

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
    assert_each_item_once(tenant, dialogue)
    if conversation := getattr(state, "conversation", None):
        assert_conversation_holds(tenant, conversation, dialogue)


def asking(
    loop: asyncio.Runner, delivery: Delivery, agent: Agent, state: State
) -> Callable[[str], str]:
    def ask(text: str) -> str:
        result = loop.run(delivery(agent, state.run_input(text), **state.params()))
        state.accept(result)
        return result.final_output_as(str, raise_if_incorrect_type=True)

    return ask


def make_agent(client: AsyncOpenAI, scene: Scene, echo: Echo, way: Way) -> Agent:
    model = OpenAIResponsesModel(scene.model, client)
    return Agent("echoing", model=model, model_settings=way.settings, tools=[echo_tool(echo)])


def echo_tool(echo: Echo) -> FunctionTool:
    @function_tool(name_override="echo", failure_error_function=None)
    def say_again(text: str) -> str:
        """Says the text again."""
        return echo(text)

    return say_again
