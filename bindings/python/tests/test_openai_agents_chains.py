"""The OpenAI Agents SDK with a chain of responses: the next request sends the outputs."""

import asyncio

import pytest
from agents import UserError
from openai import BadRequestError

from agents_sdk import (
    ECHO,
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
from provider import Provider


async def stopped_at_first_tool(settings: Settings, delivery: str, branches: int = 1) -> list[str]:
    """A run that ends with its tool's output, and runs that continue its last response."""
    async with settings() as setting:
        agent = setting.agent(echo_tool(), tool_use_behavior="stop_on_first_tool")
        runs = getattr(setting, delivery)
        stopped = await runs(agent, f"{FACT}. {ECHO}", auto_previous_response_id=True)
        assert stopped.final_output == "hello"
        recalled = [
            await runs(agent, RECALL, previous_response_id=stopped.last_response_id)
            for _ in range(branches)
        ]
        return [str(result.final_output) for result in recalled]


@pytest.mark.parametrize("delivery", ["run", "run_streamed"])
def test_stop_on_first_tool_breaks_the_chain(
    provider: Provider, delivery: str
) -> None:
    with pytest.raises(BadRequestError, match=UNANSWERED):
        asyncio.run(stopped_at_first_tool(plain, delivery))


@pytest.mark.parametrize("delivery", ["run", "run_streamed"])
def test_its_output_goes_with_the_next_run(provider: Provider, delivery: str) -> None:
    assert asyncio.run(stopped_at_first_tool(antiphonal, delivery)) == [RECALLED]

    assert_no_faults(provider)
    assert outputs(provider.sent()[-1]) == ["hello"]


def test_every_branch_sends_the_output(provider: Provider) -> None:
    assert asyncio.run(stopped_at_first_tool(antiphonal, "run", branches=2)) == [RECALLED] * 2

    assert_no_faults(provider)
    assert [outputs(given) for given in provider.turns()[-2:]] == [["hello"]] * 2


def test_output_in_the_input_takes_precedence(provider: Provider) -> None:
    async def story() -> str:
        async with antiphonal() as setting:
            agent = setting.agent(echo_tool(), tool_use_behavior="stop_on_first_tool")
            stopped = await setting.run(agent, f"{FACT}. {ECHO}", auto_previous_response_id=True)
            output = {**stopped.new_items[-1].to_input_item(), "output": "hello, edited"}
            given = [output, {"role": "user", "content": RECALL}]
            recalled = await setting.run(
                agent, given, previous_response_id=stopped.last_response_id
            )
            return str(recalled.final_output)

    assert asyncio.run(story()) == RECALLED
    assert_no_faults(provider)
    assert outputs(provider.sent()[-1]) == ["hello, edited"]


def test_raising_tools_call_gets_a_placeholder(provider: Provider) -> None:
    async def story() -> str:
        async with antiphonal() as setting:
            announced = await failed_in_a_stream(setting)
            recalled = await setting.run(
                setting.agent(echo_tool()), RECALL, previous_response_id=announced
            )
            return str(recalled.final_output)

    assert asyncio.run(story()) == RECALLED
    assert_no_faults(provider)
    [made_up] = outputs(provider.turns()[-1])
    assert "hello" not in made_up


async def failed_in_a_stream(setting: Setting) -> str:
    """A streamed run whose tool raises. Returns the announced id of its response."""
    agent = setting.agent(echo_tool(failing))
    result = setting.runner.run_streamed(agent, f"{FACT}. {ECHO}", auto_previous_response_id=True)
    announced = ""
    with pytest.raises(UserError, match="Error running tool echo"):
        async for event in result.stream_events():
            if event.type == "raw_response_event" and event.data.type == "response.created":
                announced = event.data.response.id
    return announced
