"""Runs of the OpenAI Agents SDK in one conversation at the same time."""

import asyncio
from typing import Any

import pytest
from agents import ModelSettings, RunHooks
from openai import BadRequestError

from agents_sdk import (
    ECHO,
    FACT,
    RECALL,
    RECALLED,
    antiphonal,
    assert_whole,
    echo_tool,
    plain,
)
from antiphon.openai_agents import ConversationBusy, Runner
from provider import Provider

LOCKED = "Another process is currently operating on this conversation"


class Hasty(Runner):
    """Waits for nobody."""

    line_seconds = 0.0


async def held_at_first_text(setting: Any, agent: Any, runner: Any, **options: Any) -> Any:
    """A streamed run whose answer has begun, and stops there."""
    result = runner.run_streamed(agent, FACT, **options)
    async for event in result.stream_events():
        if event.type == "raw_response_event" and event.data.type.endswith("text.delta"):
            return result


def test_a_run_beside_another_is_refused(provider: Provider) -> None:
    async def story() -> None:
        async with plain() as setting:
            agent = setting.agent(model_settings=ModelSettings())
            conversation = provider.new_conversation()
            provider.hold("in_text")
            held = await held_at_first_text(
                setting, agent, setting.runner, conversation_id=conversation
            )
            with pytest.raises(BadRequestError, match=LOCKED):
                await setting.client.responses.create(
                    model="fake-model", conversation=conversation, input=RECALL
                )
            held.cancel()

    asyncio.run(story())


def test_runs_wait_for_each_other(provider: Provider) -> None:
    async def story() -> list[str]:
        async with antiphonal() as setting:
            agent = setting.agent(echo_tool())
            conversation = provider.new_conversation()
            deliveries = [setting.run, setting.run_streamed] * 2
            said = [FACT, ECHO, "Echo hi", RECALL]
            results = await asyncio.gather(
                *[
                    runs(agent, text, conversation_id=conversation)
                    for runs, text in zip(deliveries, said, strict=True)
                ]
            )
            return [str(result.final_output) for result in results]

    *_, recalled = asyncio.run(story())

    assert recalled == RECALLED
    assert_whole(provider)


def test_runs_of_other_conversations_do_not_wait(provider: Provider) -> None:
    async def story() -> None:
        async with antiphonal() as setting:
            agent = setting.agent()
            provider.hold("in_text")
            held = await held_at_first_text(
                setting, agent, Hasty, conversation_id=provider.new_conversation()
            )
            await Hasty.run(agent, FACT, conversation_id=provider.new_conversation())
            held.cancel()

    asyncio.run(story())


def test_a_run_that_has_waited_long_enough_says_so(provider: Provider) -> None:
    async def story() -> str:
        async with antiphonal() as setting:
            agent = setting.agent()
            conversation = provider.new_conversation()
            provider.hold("in_text")
            held = await held_at_first_text(
                setting, agent, Runner, conversation_id=conversation
            )
            with pytest.raises(ConversationBusy, match=conversation):
                await Hasty.run(agent, RECALL, conversation_id=conversation)
            held.cancel()
            recalled = await Runner.run(agent, "Thanks", conversation_id=conversation)
            return str(recalled.final_output)

    assert asyncio.run(story())
    assert provider.refusals() == []


def test_a_run_that_is_cancelled_before_its_first_step_holds_nobody_up(provider: Provider) -> None:
    async def story() -> None:
        async with antiphonal() as setting:
            agent = setting.agent()
            conversation = provider.new_conversation()
            Runner.run_streamed(agent, FACT, conversation_id=conversation).cancel()
            await Runner.run(agent, FACT, conversation_id=conversation)

    asyncio.run(story())

    assert_whole(provider)


def test_the_hooks_of_a_run_are_all_passed_on() -> None:
    from antiphon.openai_agents._hooks import Hearing

    hooks = {name for name in dir(RunHooks) if name.startswith("on_")}
    assert hooks <= set(vars(Hearing))
