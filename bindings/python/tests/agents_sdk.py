"""Agents of the OpenAI Agents SDK for the tests: what they say, call and go on from."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from inspect import isawaitable
from typing import Any

import agents
from agents import Agent, FunctionTool, OpenAIResponsesModel, function_tool
from agents.result import RunResultBase
from openai import AsyncOpenAI

from antiphon.openai import whole
from antiphon.openai_agents import Runner
from provider import Item, Provider

FACT = "My color is purple, dog is Biscuit"
ECHO = "Echo hello"
ECHO_TWICE = "Echo hello twice"
RECALL = "What is my color and dog name?"
RECALLED = "purple, Biscuit"

UNANSWERED = "No tool output found for function call"


@dataclass(frozen=True)
class Setting:
    """A runner and the client that its models ask with: the SDK's own, or the package's."""

    runner: type[agents.Runner]
    client: AsyncOpenAI

    async def run(self, agent: Agent[Any], given: Any, **options: Any) -> RunResultBase:
        return await self.runner.run(agent, given, **options)

    async def run_streamed(self, agent: Agent[Any], given: Any, **options: Any) -> RunResultBase:
        result = self.runner.run_streamed(agent, given, **options)
        async for _ in result.stream_events():
            pass
        return result

    def agent(self, *tools: FunctionTool, **options: Any) -> Agent[Any]:
        model = OpenAIResponsesModel("fake-model", self.client)
        return Agent(**{"name": "echoing", "model": model, "tools": list(tools), **options})


Settings = Callable[[], AbstractAsyncContextManager[Setting]]


@asynccontextmanager
async def plain() -> AsyncIterator[Setting]:
    """The SDK as it comes."""
    async with AsyncOpenAI(max_retries=0) as client:
        yield Setting(agents.Runner, client)


@asynccontextmanager
async def antiphonal() -> AsyncIterator[Setting]:
    """The SDK with the package."""
    async with AsyncOpenAI(max_retries=0) as client:
        yield Setting(Runner, whole(client))


def echo_tool(say: Callable[[str], Any] = lambda text: text) -> FunctionTool:
    """The tool `echo`; what `say` raises ends the run."""

    @function_tool(name_override="echo", failure_error_function=None)
    async def say_again(text: str) -> str:
        """Says the text again."""
        said = say(text)
        return str(await said if isawaitable(said) else said)

    return say_again


def failing(text: str) -> str:
    raise ValueError(text)


def outputs(items: list[Item]) -> list[str]:
    """What the outputs of calls say, in order."""
    return [item["output"] for item in items if item.get("type") == "function_call_output"]


def assert_whole(provider: Provider) -> None:
    """No request was refused, and the model was given nothing twice."""
    assert provider.refusals() == []
    assert provider.twice() == []
