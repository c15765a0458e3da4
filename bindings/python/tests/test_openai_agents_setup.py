"""Setup for the OpenAI Agents SDK: client, runner, models."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator

import agents
import httpx2
import pytest
from agents import (
    Agent,
    OpenAIResponsesModel,
    RunConfig,
    RunHooks,
    RunResult,
    RunState,
    function_tool,
)
from agents.models import _openai_shared
from openai import AsyncOpenAI

from agents_sdk import (
    ECHO,
    ECHO_TWICE,
    FACT,
    RECALL,
    RECALLED,
    assert_no_faults,
    echo_tool,
    outputs,
)
from antiphon.openai import stateful
from antiphon.openai_agents import Runner, install
from antiphon.openai_agents import provider as whole_provider
from provider import Provider


@pytest.fixture(autouse=True)
def no_default_client() -> Iterator[None]:
    """Restores the SDK's default client, which is global, after a test."""
    yield
    _openai_shared._default_openai_client = None


def test_named_models_use_the_installed_client(provider: Provider) -> None:
    install(use_for_tracing=False)
    conversation = provider.new_conversation()
    stopping = Agent(
        "stopping",
        model="fake-model",
        tools=[echo_tool()],
        tool_use_behavior="stop_on_first_tool",
    )

    for text in (FACT, ECHO):
        Runner.run_sync(stopping, text, conversation_id=conversation)
    recalled = Runner.run_sync(stopping, RECALL, conversation_id=conversation)

    assert recalled.final_output == RECALLED
    assert outputs(provider.items(conversation)) == ["hello"]
    assert_no_faults(provider)


def test_installed_client_adds_placeholder_before_next_turn(
    provider: Provider,
) -> None:
    install(use_for_tracing=False)
    conversation = provider.new_conversation()
    agent = Agent("stopping", model="fake-model", tools=[echo_tool()])
    agent.tool_use_behavior = "stop_on_first_tool"

    for text in (FACT, ECHO):
        agents.Runner.run_sync(agent, text, conversation_id=conversation)
    recalled = agents.Runner.run_sync(agent, RECALL, conversation_id=conversation)

    assert recalled.final_output == RECALLED
    assert_no_faults(provider)


def test_run_config_may_set_the_provider(provider: Provider) -> None:
    async def story() -> str:
        conversation = provider.new_conversation()
        models = RunConfig(model="fake-model", model_provider=whole_provider(AsyncOpenAI()))
        agent = Agent("stopping", tools=[echo_tool()], tool_use_behavior="stop_on_first_tool")
        for text in (FACT, ECHO, RECALL):
            result = await Runner.run(agent, text, conversation_id=conversation, run_config=models)
        return str(result.final_output)

    assert asyncio.run(story()) == RECALLED
    assert_no_faults(provider)


def test_callers_hooks_are_called(provider: Provider) -> None:
    class Counting(RunHooks):
        heard: list[str] = []

        async def on_tool_end(self, context, agent, tool, result) -> None:  # type: ignore[no-untyped-def]
            self.heard.append(str(result))

    install(use_for_tracing=False)
    agent = Agent("echoing", model="fake-model", tools=[echo_tool()])

    Runner.run_sync(agent, ECHO, hooks=Counting())

    assert Counting.heard == ["hello"]


def test_paused_run_resumes_after_other_turns(provider: Provider) -> None:
    tool = echo_tool()
    tool.needs_approval = True

    async def story() -> str:
        install(use_for_tracing=False)
        agent = Agent("asking", model="fake-model", tools=[tool])
        conversation = provider.new_conversation()
        paused = await Runner.run(agent, ECHO, conversation_id=conversation)
        await Runner.run(agent, FACT, conversation_id=conversation)
        state = paused.to_state()
        state.approve(state.get_interruptions()[0])
        await Runner.run(agent, state)
        return str((await Runner.run(agent, RECALL, conversation_id=conversation)).final_output)

    assert asyncio.run(story()) == RECALLED
    assert_no_faults(provider)
    assert outputs(provider.turns()[-1]) == ["hello"]


async def run_in_a_thread(agent: Agent, given: RunState) -> RunResult:
    """Runs in a new event loop, and so with a new client."""

    def run() -> RunResult:
        install(use_for_tracing=False)
        return Runner.run_sync(agent, given)

    return await asyncio.to_thread(run)


@pytest.mark.parametrize("runs", [Runner.run, run_in_a_thread])
def test_resumed_run_without_request_delivers_output(
    provider: Provider, runs: Callable[..., Awaitable[RunResult]]
) -> None:
    tool = echo_tool()
    tool.needs_approval = True

    async def story() -> tuple[str, list[str]]:
        install(use_for_tracing=False)
        agent = Agent("asking", model="fake-model", tools=[tool])
        agent.tool_use_behavior = "stop_on_first_tool"
        conversation = provider.new_conversation()
        paused = await Runner.run(agent, f"{FACT}. {ECHO}", conversation_id=conversation)
        state = paused.to_state()
        state.approve(state.get_interruptions()[0])
        assert (await runs(agent, state)).final_output == "hello"
        held = outputs(provider.items(conversation))
        install(use_for_tracing=False)  # A client for this loop alone: the other's is the thread's.
        recalled = await Runner.run(agent, RECALL, conversation_id=conversation)
        return str(recalled.final_output), held

    assert asyncio.run(story()) == (RECALLED, ["hello"])
    assert_no_faults(provider)


def test_approved_run_resumes_in_its_conversation(
    provider: Provider,
) -> None:
    @function_tool(name_override="echo", needs_approval=True)
    def echo_if_approved(text: str) -> str:
        """Returns the text."""
        return text

    async def story() -> str:
        install(use_for_tracing=False)
        agent = Agent("asking", model="fake-model", tools=[echo_if_approved])
        conversation = provider.new_conversation()
        paused = await Runner.run(agent, ECHO, conversation_id=conversation)
        state = await RunState.from_json(agent, paused.to_state().to_json())
        state.approve(state.get_interruptions()[0])
        return str((await Runner.run(agent, state)).final_output)

    assert asyncio.run(story()) == "echo said: hello"
    assert_no_faults(provider)


def test_run_paused_between_calls_sends_output_once(provider: Provider) -> None:
    """Holds even if the model's client is not wrapped."""
    calls: list[str] = []

    async def is_first(_: object, __: object, call_id: str) -> bool:
        calls.append(call_id)
        return call_id == calls[0]

    tool = echo_tool()
    tool.needs_approval = is_first

    async def story() -> None:
        async with AsyncOpenAI(max_retries=0) as client:
            model = OpenAIResponsesModel("fake-model", client)
            agent = Agent("asking", model=model, tools=[tool])
            conversation = provider.new_conversation()
            paused = await Runner.run(agent, ECHO_TWICE, conversation_id=conversation)
            state = paused.to_state()
            state.approve(state.get_interruptions()[0])
            await Runner.run(agent, state)

    asyncio.run(story())

    assert_no_faults(provider)
    assert outputs(provider.turns()[-1]) == ["hello twice", "hello twice"]


def test_delivery_survives_connections_of_closed_loops(
    provider: Provider,
) -> None:
    """Reading from such a connection fails, unless its answer has arrived."""
    failing: list[str] = []

    def fail_the_next(text: str) -> str:
        failing.append("of a different event loop")
        return text

    async def fail_once(_: httpx2.Request) -> None:
        if failing:
            raise RuntimeError(failing.pop())

    async def story() -> list[str]:
        http_client = httpx2.AsyncClient(event_hooks={"request": [fail_once]})
        async with AsyncOpenAI(max_retries=0, http_client=http_client) as client:
            model = OpenAIResponsesModel("fake-model", stateful(client))
            tool = echo_tool(fail_the_next)
            agent = Agent("stopping", model=model, tools=[tool])
            agent.tool_use_behavior = "stop_on_first_tool"
            conversation = provider.new_conversation()
            await Runner.run(agent, ECHO, conversation_id=conversation)
            return outputs(provider.items(conversation))

    assert asyncio.run(story()) == ["hello"]
    assert_no_faults(provider)
