"""The OpenAI Agents SDK in a chain of responses, to which outputs come with the next request."""

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
    assert_whole,
    echo_tool,
    failing,
    outputs,
    plain,
)
from provider import Provider


async def stopped_at_first_tool(settings: Settings, delivery: str, branches: int = 1) -> list[str]:
    """A run that ends with its tool's output, and others that go on from its last response."""
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
def test_a_run_that_stops_at_its_first_tool_breaks_the_chain(
    provider: Provider, delivery: str
) -> None:
    with pytest.raises(BadRequestError, match=UNANSWERED):
        asyncio.run(stopped_at_first_tool(plain, delivery))


@pytest.mark.parametrize("delivery", ["run", "run_streamed"])
def test_its_output_goes_with_the_next_run(provider: Provider, delivery: str) -> None:
    assert asyncio.run(stopped_at_first_tool(antiphonal, delivery)) == [RECALLED]

    assert_whole(provider)
    assert outputs(provider.sent()[-1]) == ["hello"]


def test_its_output_goes_with_every_run_that_branches_off(provider: Provider) -> None:
    assert asyncio.run(stopped_at_first_tool(antiphonal, "run", branches=2)) == [RECALLED] * 2

    assert_whole(provider)
    assert [outputs(given) for given in provider.turns()[-2:]] == [["hello"]] * 2


def test_a_caller_who_brings_the_output_along_is_taken_at_their_word(provider: Provider) -> None:
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
    assert_whole(provider)
    assert outputs(provider.sent()[-1]) == ["hello, edited"]


def test_a_call_whose_tool_raised_is_answered_where_the_caller_goes_on(provider: Provider) -> None:
    async def story() -> str:
        async with antiphonal() as setting:
            announced = await failed_in_a_stream(setting)
            recalled = await setting.run(
                setting.agent(echo_tool()), RECALL, previous_response_id=announced
            )
            return str(recalled.final_output)

    assert asyncio.run(story()) == RECALLED
    assert_whole(provider)
    [made_up] = outputs(provider.turns()[-1])
    assert "hello" not in made_up


async def failed_in_a_stream(setting: Setting) -> str:
    """A streamed run whose tool raises; gives the id that was announced with its response."""
    agent = setting.agent(echo_tool(failing))
    result = setting.runner.run_streamed(agent, f"{FACT}. {ECHO}", auto_previous_response_id=True)
    announced = ""
    with pytest.raises(UserError, match="Error running tool echo"):
        async for event in result.stream_events():
            if event.type == "raw_response_event" and event.data.type == "response.created":
                announced = event.data.response.id
    return announced
