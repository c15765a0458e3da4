"""The OpenAI Agents SDK with a conversation that the server stores: the ways a run can end."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from agents import Agent, MaxTurnsExceeded, StopAtTools, UserError
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
    failing,
    outputs,
    plain,
)
from provider import Item, Provider

Ask = Callable[..., Awaitable[Any]]


async def stop_at_first_tool(setting: Setting, ask: Ask) -> None:
    agent = setting.agent(echo_tool(), tool_use_behavior="stop_on_first_tool")
    assert (await ask(agent, ECHO)).final_output == "hello"


async def stop_at_named_tool(setting: Setting, ask: Ask) -> None:
    stop = StopAtTools(stop_at_tool_names=["echo"])
    agent = setting.agent(echo_tool(), tool_use_behavior=stop)
    assert (await ask(agent, ECHO)).final_output == "hello"


async def run_out_of_turns(setting: Setting, ask: Ask) -> None:
    with pytest.raises(MaxTurnsExceeded):
        await ask(setting.agent(echo_tool()), ECHO, max_turns=1)


async def fail_in_a_tool(setting: Setting, ask: Ask) -> None:
    with pytest.raises(UserError, match="Error running tool echo"):
        await ask(setting.agent(echo_tool(failing)), ECHO)


async def fail_beside_a_tool(setting: Setting, ask: Ask) -> None:
    """One of two calls has its output when the other one raises."""
    with pytest.raises(UserError, match="Error running tool echo"):
        await ask(setting.agent(echo_tool(OnceThenFailing())), ECHO_TWICE)


async def wait_for_an_approval(setting: Setting, ask: Ask) -> None:
    """A tool whose approval never arrives."""
    tool = echo_tool()
    tool.needs_approval = True
    assert (await ask(setting.agent(tool), ECHO)).interruptions


async def run_out_of_turns_at_a_handoff(setting: Setting, ask: Ask) -> None:
    with pytest.raises(MaxTurnsExceeded):
        second = setting.agent(name="second")
        await ask(setting.agent(handoffs=[second]), ECHO, max_turns=1)


class OnceThenFailing:
    """A tool that works only once."""

    def __init__(self) -> None:
        self.has_worked = False

    def __call__(self, text: str) -> str:
        if self.has_worked:
            raise ValueError(text)
        self.has_worked = True
        return "hello"


ENDS = {
    "stop_at_first_tool": (stop_at_first_tool, ["hello"]),
    "stop_at_named_tool": (stop_at_named_tool, ["hello"]),
    "run_out_of_turns": (run_out_of_turns, ["hello"]),
    "fail_in_a_tool": (fail_in_a_tool, []),
    "fail_beside_a_tool": (fail_beside_a_tool, ["hello"]),
    "wait_for_an_approval": (wait_for_an_approval, []),
}


async def three_turns(
    provider: Provider, settings: Settings, delivery: str, end: Any
) -> tuple[str, list[str]]:
    """A fact, a run that ends with unanswered calls, a recall. Returns the recall and the outputs
    that the conversation holds before it."""
    conversation = provider.new_conversation()
    async with settings() as setting:
        runs = getattr(setting, delivery)

        async def ask(agent: Agent[Any], given: str, **options: Any) -> Any:
            return await runs(agent, given, conversation_id=conversation, **options)

        await ask(setting.agent(echo_tool()), FACT)
        await end(setting, ask)
        held = outputs(provider.items(conversation))
        recalled = await ask(setting.agent(echo_tool()), RECALL)
        return recalled.final_output, held


@pytest.mark.parametrize("delivery", ["run", "run_streamed"])
@pytest.mark.parametrize("end", ENDS)
def test_open_call_breaks_the_conversation(
    provider: Provider, end: str, delivery: str
) -> None:
    with pytest.raises(BadRequestError, match=UNANSWERED):
        asyncio.run(three_turns(provider, plain, delivery, ENDS[end][0]))


@pytest.mark.parametrize("delivery", ["run", "run_streamed"])
@pytest.mark.parametrize("end", ENDS)
def test_its_outputs_are_delivered_on_the_way_out(
    provider: Provider, end: str, delivery: str
) -> None:
    ending, delivered = ENDS[end]

    recalled, held = asyncio.run(three_turns(provider, antiphonal, delivery, ending))

    assert recalled == RECALLED
    assert held == delivered
    assert_no_faults(provider)
    calls = [item for item in provider.turns()[-1] if item.get("type") == "function_call"]
    assert (
        len(outputs(provider.turns()[-1]))
        == len(calls)
        == (2 if end == "fail_beside_a_tool" else 1)
    )


@pytest.mark.parametrize("end", ENDS)
def test_a_conversation_that_was_broken_before_is_healed(provider: Provider, end: str) -> None:
    """Uses a new client, which does not have the tools' outputs."""

    async def story() -> str:
        conversation = provider.new_conversation()
        async with plain() as setting:

            async def ask(agent: Agent[Any], given: str, **options: Any) -> Any:
                return await setting.run(agent, given, conversation_id=conversation, **options)

            await ask(setting.agent(echo_tool()), FACT)
            await ENDS[end][0](setting, ask)
        async with antiphonal() as setting:
            agent = setting.agent(echo_tool())
            recalled = await setting.run(agent, RECALL, conversation_id=conversation)
            return str(recalled.final_output)

    assert asyncio.run(story()) == RECALLED
    assert_no_faults(provider)


HANDED_OFF: list[Item] = [
    {"answer": [{"message": "Noted."}]},
    {"answer": [{"call": {"name": "transfer_to_second", "arguments": {}}}]},
]


@pytest.mark.parametrize("script", [HANDED_OFF], ids=["handed_off"])
def test_unfinished_handoff_breaks_the_conversation(provider: Provider) -> None:
    with pytest.raises(BadRequestError, match=UNANSWERED):
        asyncio.run(three_turns(provider, plain, "run", run_out_of_turns_at_a_handoff))


@pytest.mark.parametrize("script", [HANDED_OFF], ids=["handed_off"])
def test_unfinished_handoff_is_delivered(provider: Provider) -> None:
    recalled, [held] = asyncio.run(
        three_turns(provider, antiphonal, "run", run_out_of_turns_at_a_handoff)
    )

    assert recalled == RECALLED
    assert "second" in held
    assert_no_faults(provider)


def test_run_without_unsent_outputs_posts_nothing(provider: Provider) -> None:
    async def story() -> None:
        async with antiphonal() as setting:
            conversation = provider.new_conversation()
            await setting.run(setting.agent(echo_tool()), ECHO, conversation_id=conversation)

    asyncio.run(story())

    paths = [entry["path"] for entry in provider.log() if entry["method"] == "POST"]
    assert paths == ["/v1/conversations", "/v1/responses", "/v1/responses"]
    assert_no_faults(provider)
