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
    assert_no_faults,
    echo_tool,
    plain,
)
from antiphon.openai import stateful
from antiphon.openai_agents import ConversationBusy, Runner
from antiphon.openai_agents._queue import RunQueue, Ticket
from provider import Provider

LOCKED = "Another process is currently operating on this conversation"


class Hasty(Runner):
    """A runner that does not wait for other runs."""

    line_seconds = 0.0


async def held_at_first_text(agent: Any, runner: Any, **options: Any) -> Any:
    """A streamed run whose answer stops after its first events."""
    result = runner.run_streamed(agent, FACT, **options)
    async for event in result.stream_events():
        if event.type == "raw_response_event" and event.data.type.endswith("text.delta"):
            return result


def test_concurrent_run_is_rejected(provider: Provider) -> None:
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
    assert_no_faults(provider)


def test_runs_of_other_threads_wait_too(provider: Provider) -> None:
    conversation = provider.new_conversation()

    def run(text: str) -> str:
        model = OpenAIResponsesModel("fake-model", stateful(AsyncOpenAI(max_retries=0)))
        agent = Agent("echoing", model=model, tools=[echo_tool()])
        result = Runner.run_sync(agent, text, conversation_id=conversation)
        return result.final_output_as(str)

    with ThreadPoolExecutor(3) as threads:
        answers = set(threads.map(run, [FACT, ECHO, "Echo hi"]))

    assert answers == {"Noted.", "echo said: hello", "echo said: hi"}
    assert_no_faults(provider)


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


def test_waiting_run_times_out(provider: Provider) -> None:
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


def test_run_cancelled_early_releases_the_queue(provider: Provider) -> None:
    async def story() -> None:
        async with antiphonal() as setting:
            agent = setting.agent()
            conversation = provider.new_conversation()
            Runner.run_streamed(agent, FACT, conversation_id=conversation).cancel()
            await Runner.run(agent, FACT, conversation_id=conversation)

    asyncio.run(story())

    assert_no_faults(provider)


def test_nested_run_is_rejected_immediately(
    provider: Provider,
) -> None:
    async def story() -> str:
        async with antiphonal() as setting:
            conversation = provider.new_conversation()
            told: list[str] = []

            async def ask_again(text: str) -> str:
                with pytest.raises(ConversationBusy, match="whose tool started this run") as busy:
                    await Runner.run(setting.agent(), FACT, conversation_id=conversation)
                told.append(str(busy.value))
                return text

            await Runner.run(
                setting.agent(echo_tool(ask_again)), ECHO, conversation_id=conversation
            )
            return told[0]

    assert "conv_" in asyncio.run(story())
    assert_no_faults(provider)


def test_closed_loop_releases_the_queue(provider: Provider) -> None:
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


def test_closed_loop_of_waiting_run_is_skipped() -> None:
    queue, gone = RunQueue(), asyncio.new_event_loop()

    async def story() -> Ticket:
        held = await queue.enter("conv_1", 1)
        await asyncio.to_thread(wait_and_close)
        last = asyncio.create_task(queue.enter("conv_1", 1))
        await asyncio.sleep(0)
        queue.leave(held)
        return await last

    def wait_and_close() -> None:
        waiting = gone.create_task(queue.enter("conv_1", 60))
        gone.run_until_complete(asyncio.sleep(0))
        gone.close()
        assert not waiting.done()

    assert asyncio.run(story()).first.done()


def test_invalid_hooks_are_rejected_by_the_sdk() -> None:
    with pytest.raises(TypeError, match="Run hooks must be instances of RunHooks"):
        asyncio.run(Runner.run(Agent("nobody"), FACT, hooks=AgentHooks()))  # type: ignore[arg-type]


def test_all_run_hooks_are_forwarded() -> None:
    from antiphon.openai_agents._hooks import RecordingHooks

    hooks = {name for name in dir(RunHooks) if name.startswith("on_")}
    assert hooks <= set(vars(RecordingHooks))
