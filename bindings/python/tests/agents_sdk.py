"""Agents, tools and texts for the tests of the OpenAI Agents SDK."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from inspect import isawaitable
from typing import Any

import agents
from agents import Agent, FunctionTool, OpenAIResponsesModel, function_tool
from agents.result import RunResultBase
from openai import AsyncOpenAI

from antiphon.openai import stateful
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
    """A runner and the client of its models: the SDK's or the package's."""

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
    """The unmodified SDK."""
    async with AsyncOpenAI(max_retries=0) as client:
        yield Setting(agents.Runner, client)


@asynccontextmanager
async def antiphonal() -> AsyncIterator[Setting]:
    """The SDK with the package."""
    async with AsyncOpenAI(max_retries=0) as client:
        yield Setting(Runner, stateful(client))


def echo_tool(say: Callable[[str], Any] = lambda text: text) -> FunctionTool:
    """The tool `echo`. An exception of `say` ends the run."""

    @function_tool(name_override="echo", failure_error_function=None)
    async def echo(text: str) -> str:
        """Returns the text."""
        result = say(text)
        return str(await result if isawaitable(result) else result)

    return echo


def failing(text: str) -> str:
    raise ValueError(text)


def outputs(items: list[Item]) -> list[str]:
    """The texts of call outputs in order."""
    return [item["output"] for item in items if item.get("type") == "function_call_output"]


def assert_no_faults(provider: Provider) -> None:
    """The provider rejected no request, and the model read no item twice."""
    assert provider.refusals() == []
    assert provider.twice() == []
