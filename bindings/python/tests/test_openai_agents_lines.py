"""Runs of the OpenAI Agents SDK in one conversation at the same time."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from agents import Agent, AgentHooks, OpenAIResponsesModel, RunHooks
from openai import AsyncOpenAI, BadRequestError

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
from antiphon.openai import whole
from antiphon.openai_agents import ConversationBusy, Runner
from antiphon.openai_agents._line import Line, Place
from provider import Provider

LOCKED = "Another process is currently operating on this conversation"


class Hasty(Runner):
    """Waits for nobody."""

    line_seconds = 0.0


async def held_at_first_text(agent: Any, runner: Any, **options: Any) -> Any:
    """A streamed run whose answer has begun, and stops there."""
    result = runner.run_streamed(agent, FACT, **options)
    async for event in result.stream_events():
        if event.type == "raw_response_event" and event.data.type.endswith("text.delta"):
            return result


def test_a_run_beside_another_is_refused(provider: Provider) -> None:
    async def story() -> None:
        async with plain() as setting:
            agent = setting.agent()
            conversation = provider.new_conversation()
            provider.hold("in_text")
            held = await held_at_first_text(agent, setting.runner, conversation_id=conversation)
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


def test_runs_of_other_threads_wait_too(provider: Provider) -> None:
    conversation = provider.new_conversation()

    def run(text: str) -> str:
        model = OpenAIResponsesModel("fake-model", whole(AsyncOpenAI(max_retries=0)))
        agent = Agent("echoing", model=model, tools=[echo_tool()])
        result = Runner.run_sync(agent, text, conversation_id=conversation)
        return result.final_output_as(str)

    with ThreadPoolExecutor(3) as threads:
        answers = set(threads.map(run, [FACT, ECHO, "Echo hi"]))

    assert answers == {"Noted.", "echo said: hello", "echo said: hi"}
    assert_whole(provider)


def test_runs_of_other_conversations_do_not_wait(provider: Provider) -> None:
    async def story() -> None:
        async with antiphonal() as setting:
            agent = setting.agent()
            provider.hold("in_text")
            held = await held_at_first_text(
                agent, Hasty, conversation_id=provider.new_conversation()
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
            held = await held_at_first_text(agent, Runner, conversation_id=conversation)
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


def test_a_run_that_a_tool_begins_in_its_own_runs_conversation_is_told_at_once(
    provider: Provider,
) -> None:
    async def story() -> str:
        async with antiphonal() as setting:
            conversation = provider.new_conversation()
            told: list[str] = []

            async def ask_again(text: str) -> str:
                with pytest.raises(ConversationBusy, match="whose tool began this one") as busy:
                    await Runner.run(setting.agent(), FACT, conversation_id=conversation)
                told.append(str(busy.value))
                return text

            await Runner.run(
                setting.agent(echo_tool(ask_again)), ECHO, conversation_id=conversation
            )
            return told[0]

    assert "conv_" in asyncio.run(story())
    assert_whole(provider)


def test_a_run_whose_loop_was_closed_holds_nobody_up(provider: Provider) -> None:
    conversation = provider.new_conversation()
    provider.hold("in_text")
    gone = asyncio.new_event_loop()

    async def begin() -> None:
        async with antiphonal() as setting:
            await held_at_first_text(setting.agent(), Runner, conversation_id=conversation)

    gone.run_until_complete(begin())
    gone.close()

    async def story() -> str:
        async with antiphonal() as setting:
            result = await Hasty.run(setting.agent(), RECALL, conversation_id=conversation)
            return str(result.final_output)

    assert asyncio.run(story())


def test_a_run_whose_loop_was_closed_while_it_waited_holds_nobody_up() -> None:
    line, gone = Line(), asyncio.new_event_loop()

    async def story() -> Place:
        held = await line.enter("conv_1", 1)
        await asyncio.to_thread(wait_and_close)
        last = asyncio.create_task(line.enter("conv_1", 1))
        await asyncio.sleep(0)
        line.leave(held)
        return await last

    def wait_and_close() -> None:
        waiting = gone.create_task(line.enter("conv_1", 60))
        gone.run_until_complete(asyncio.sleep(0))
        gone.close()
        assert not waiting.done()

    assert asyncio.run(story()).first.done()


def test_what_are_no_hooks_of_a_run_is_refused_as_the_sdk_does() -> None:
    with pytest.raises(TypeError, match="Run hooks must be instances of RunHooks"):
        asyncio.run(Runner.run(Agent("nobody"), FACT, hooks=AgentHooks()))  # type: ignore[arg-type]


def test_the_hooks_of_a_run_are_all_passed_on() -> None:
    from antiphon.openai_agents._hooks import Hearing

    hooks = {name for name in dir(RunHooks) if name.startswith("on_")}
    assert hooks <= set(vars(Hearing))
