"""The limits that the page of the Agents SDK names: what the SDK itself rejects, and nested agents."""

import asyncio
from typing import Any

import pytest
from agents import (
    Agent,
    GuardrailFunctionOutput,
    SQLiteSession,
    UserError,
    handoff,
    output_guardrail,
)

from agents_sdk import (
    ECHO,
    FACT,
    RECALL,
    RECALLED,
    antiphonal,
    assert_no_faults,
    echo_tool,
    outputs,
)
from provider import Item, Provider


@output_guardrail
async def permit(*_: Any) -> GuardrailFunctionOutput:
    return GuardrailFunctionOutput(output_info=None, tripwire_triggered=False)


def with_guardrail() -> dict[str, Any]:
    return {"output_guardrails": [permit]}


def with_input_filter() -> dict[str, Any]:
    return {"handoffs": [handoff(Agent("second"), input_filter=lambda data: data)]}


HANDS_OFF: list[Item] = [{"answer": [{"call": {"name": "transfer_to_second", "arguments": {}}}]}]


@pytest.mark.parametrize("script", [HANDS_OFF], ids=["hands_off"])
@pytest.mark.parametrize("options", [with_guardrail, with_input_filter])
def test_the_sdk_rejects_it_in_a_conversation(provider: Provider, options: Any) -> None:
    async def story() -> None:
        async with antiphonal() as setting:
            agent = setting.agent(**options())
            await setting.run(agent, ECHO, conversation_id=provider.new_conversation())

    with pytest.raises(UserError, match="conversation"):
        asyncio.run(story())


def test_the_sdk_rejects_a_session_with_a_conversation(provider: Provider) -> None:
    async def story() -> None:
        async with antiphonal() as setting:
            conversation = provider.new_conversation()
            session = SQLiteSession("one")
            await setting.run(setting.agent(), FACT, conversation_id=conversation, session=session)

    with pytest.raises(UserError, match="conversation_id"):
        asyncio.run(story())


NESTED: list[Item] = [{"answer": [{"call": {"name": "inner", "arguments": {"input": ECHO}}}]}]


@pytest.mark.parametrize("script", [NESTED], ids=["nested"])
def test_output_of_a_nested_agent_becomes_a_placeholder(provider: Provider) -> None:
    """The SDK runs an agent that is a tool itself, so nothing delivers its last output."""

    async def story() -> tuple[list[str], str]:
        conversation = provider.new_conversation()
        async with antiphonal() as setting:
            inner = setting.agent(echo_tool(), tool_use_behavior="stop_on_first_tool")
            tool = inner.as_tool("inner", "Echoes.", conversation_id=conversation)
            await setting.run(setting.agent(tool), FACT)
            held = outputs(provider.items(conversation))
            question = f"{FACT}. {RECALL}"
            recalled = await setting.run(setting.agent(), question, conversation_id=conversation)
            return held, str(recalled.final_output)

    held, recalled = asyncio.run(story())

    assert held == []
    assert recalled == RECALLED
    assert_no_faults(provider)
