"""Agents of LangChain and LangGraph, and the ways to call them."""

import asyncio
import warnings
from collections.abc import Callable
from typing import Any

from langchain.agents import create_agent
from langchain_core.runnables import RunnableConfig

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from langgraph.prebuilt import create_react_agent

THREAD: RunnableConfig = {"configurable": {"thread_id": "the only one"}, "recursion_limit": 10}

Ask = Callable[[str], str]


def react_agent(model: Any, tools: list[Any], **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return create_react_agent(model, tools, **options)


AGENTS: dict[str, Callable[..., Any]] = {
    "create_agent": create_agent,
    "create_react_agent": react_agent,
}


def invoked(agent: Any, _loop: asyncio.Runner) -> Ask:
    return lambda text: last(agent.invoke(said(text), THREAD))


def streamed(agent: Any, _loop: asyncio.Runner) -> Ask:
    modes = ["messages", "values"]
    return lambda text: last(
        [state for mode, state in agent.stream(said(text), THREAD, stream_mode=modes)][-1]
    )


def invoked_async(agent: Any, loop: asyncio.Runner) -> Ask:
    return lambda text: last(loop.run(agent.ainvoke(said(text), THREAD)))


def streamed_async(agent: Any, loop: asyncio.Runner) -> Ask:
    async def ask(text: str) -> str:
        stream = agent.astream(said(text), THREAD, stream_mode=["messages", "values"])
        return last([state async for mode, state in stream][-1])

    return lambda text: loop.run(ask(text))


DELIVERIES = {
    "invoke": invoked,
    "stream": streamed,
    "ainvoke": invoked_async,
    "astream": streamed_async,
}


def said(text: str) -> Any:
    return {"messages": [{"role": "user", "content": text}]}


def last(state: Any) -> str:
    """The text of the last message."""
    return str(state["messages"][-1].text)
