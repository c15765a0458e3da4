"""Streamed runs of the OpenAI Agents SDK that are abandoned in the middle of an answer."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import anyio
import pytest
from agents import Agent
from openai import BadRequestError

from agents_sdk import (
    ECHO,
    ECHO_TWICE,
    FACT,
    RECALL,
    RECALLED,
    UNANSWERED,
    Setting,
    Settings,
    antiphonal,
    assert_no_faults,
    echo_tool,
    outputs,
    plain,
)
from provider import Provider

PLACES = {
    "in_reasoning": "response.reasoning_summary_text.delta",
    "in_arguments": "response.function_call_arguments.delta",
    "behind_call": "response.function_call_arguments.done",
}

CONVERSATION, CHAIN = "conversation", "chain"


async def leave(setting: Setting, agent: Agent[Any], place: str, **options: Any) -> str:
    """Cancels a streamed run in the middle of its answer. Returns the announced response id."""
    result = setting.runner.run_streamed(agent, ECHO, **options)
    announced = ""
    async for event in result.stream_events():
        if event.type != "raw_response_event":
            continue
        if event.data.type == "response.created":
            announced = event.data.response.id
        if event.data.type == PLACES[place]:
            break
    result.cancel()
    assert result.run_loop_task is not None
    await asyncio.wait([result.run_loop_task])
    return announced


async def gone_on(provider: Provider, settings: Settings, owner: str, place: str) -> str:
    """A fact, an abandoned run, a recall."""
    async with settings() as setting:
        agent = setting.agent(echo_tool())
        options: dict[str, Any] = {"conversation_id": provider.new_conversation()}
        if owner == CHAIN:
            options = {"auto_previous_response_id": True}
        begun = await setting.run(agent, FACT, **options)
        if owner == CHAIN:
            options = {"previous_response_id": begun.last_response_id}
        provider.hold(place)
        announced = await leave(setting, agent, place, **options)
        if owner == CHAIN:
            options = {"previous_response_id": announced}
        return str((await setting.run(agent, RECALL, **options)).final_output)


@pytest.mark.parametrize("owner", [CONVERSATION, CHAIN])
def test_abandoned_run_breaks_its_conversation(
    provider: Provider, owner: str
) -> None:
    with pytest.raises(BadRequestError, match=UNANSWERED):
        asyncio.run(gone_on(provider, plain, owner, "behind_call"))


@pytest.mark.parametrize("on_abort", ["part", "whole", "nothing"])
@pytest.mark.parametrize("place", PLACES)
def test_conversation_is_repaired_after_any_abort(
    provider: Provider, place: str
) -> None:
    assert asyncio.run(gone_on(provider, antiphonal, CONVERSATION, place)) == RECALLED

    assert_whole_in_the_end(provider)


@pytest.mark.parametrize("on_abort", ["part", "whole"])
@pytest.mark.parametrize("place", PLACES)
def test_chain_is_repaired_if_response_was_stored(provider: Provider, place: str) -> None:
    assert asyncio.run(gone_on(provider, antiphonal, CHAIN, place)) == RECALLED

    assert_whole_in_the_end(provider)


async def stopped_after_its_turn(provider: Provider, settings: Settings) -> tuple[str, list[str]]:
    """A run that finishes its turn with its tools. Returns the recall and the stored outputs."""
    async with settings() as setting:
        agent = setting.agent(echo_tool())
        options: dict[str, Any] = {"conversation_id": provider.new_conversation()}
        await setting.run(agent, FACT, **options)
        result = setting.runner.run_streamed(agent, ECHO, **options)
        async for event in result.stream_events():
            if event.type == "run_item_stream_event" and event.name == "tool_called":
                result.cancel(mode="after_turn")
        held = outputs(provider.items(options["conversation_id"]))
        recalled = await setting.run(agent, RECALL, **options)
        return str(recalled.final_output), held


def test_run_stopped_after_turn_breaks_conversation(provider: Provider) -> None:
    with pytest.raises(BadRequestError, match=UNANSWERED):
        asyncio.run(stopped_after_its_turn(provider, plain))


def test_run_stopped_after_turn_delivers_output(provider: Provider) -> None:
    assert asyncio.run(stopped_after_its_turn(provider, antiphonal)) == (RECALLED, ["hello"])

    assert_no_faults(provider)


class WaitingAtItsSecondCall:
    """A tool that answers its first call and waits forever in its second."""

    def __init__(self) -> None:
        self.is_waiting = asyncio.Event()
        self._has_answered = False

    async def __call__(self, text: str) -> str:
        if self._has_answered:
            self.is_waiting.set()
            await asyncio.Event().wait()
        self._has_answered = True
        return "hello"


Run = Callable[[], Coroutine[Any, Any, Any]]


async def cancel_its_task(run: Run, begun: asyncio.Event) -> None:
    running = asyncio.ensure_future(run())
    await begun.wait()
    running.cancel()
    await asyncio.wait([running])
    assert running.cancelled()


async def cancel_its_scope(run: Run, begun: asyncio.Event) -> None:
    """Cancels the task as a web framework does after its caller disconnected."""
    async with anyio.create_task_group() as group:
        group.start_soon(run)
        await begun.wait()
        group.cancel_scope.cancel()


async def cancelled_in_a_tool(
    provider: Provider,
    settings: Settings,
    cancel: Callable[[Run, asyncio.Event], Awaitable[None]] = cancel_its_task,
) -> tuple[str, list[str]]:
    """A run that is cancelled between the outputs of two calls."""
    async with settings() as setting:
        waiting = WaitingAtItsSecondCall()
        options = {"conversation_id": provider.new_conversation()}
        await setting.run(setting.agent(echo_tool()), FACT, **options)
        agent = setting.agent(echo_tool(waiting))
        await cancel(lambda: setting.run(agent, ECHO_TWICE, **options), waiting.is_waiting)
        held = outputs(provider.items(options["conversation_id"]))
        recalled = await setting.run(setting.agent(echo_tool()), RECALL, **options)
        return str(recalled.final_output), held


def test_run_cancelled_in_tool_breaks_conversation(provider: Provider) -> None:
    with pytest.raises(BadRequestError, match=UNANSWERED):
        asyncio.run(cancelled_in_a_tool(provider, plain))


@pytest.mark.parametrize("cancel", [cancel_its_task, cancel_its_scope])
def test_run_cancelled_in_tool_delivers_outputs(
    provider: Provider, cancel: Callable[[Run, asyncio.Event], Awaitable[None]]
) -> None:
    assert asyncio.run(cancelled_in_a_tool(provider, antiphonal, cancel)) == (RECALLED, ["hello"])

    assert_no_faults(provider)


def assert_whole_in_the_end(provider: Provider) -> None:
    assert provider.twice() == []
    given = provider.turns()[-1]
    calls = [item for item in given if item.get("type") == "function_call"]
    assert len(outputs(given)) == len(calls)
