"""A dialogue of three turns with a LangChain model: a fact, a tool call, a recall."""

import asyncio
from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.tools import tool

from provider import Item, Provider

MODEL = "fake-model"

FACT = "My color is purple, dog is Biscuit"
ECHO = "Echo hello"
RECALL = "What is my color and dog name?"

Messages = list[BaseMessage]
Answer = Callable[[Messages], AIMessage]


@tool
def echo(text: str) -> str:
    """Returns the text."""
    return text


def invoked(model: Any, _loop: asyncio.Runner) -> Answer:
    return lambda messages: model.invoke(messages)


def streamed(model: Any, _loop: asyncio.Runner) -> Answer:
    return lambda messages: join_pieces(model.stream(messages))


def batched(model: Any, _loop: asyncio.Runner) -> Answer:
    return lambda messages: model.batch([messages])[0]


def invoked_async(model: Any, loop: asyncio.Runner) -> Answer:
    return lambda messages: loop.run(model.ainvoke(messages))


def streamed_async(model: Any, loop: asyncio.Runner) -> Answer:
    async def pieces(messages: Messages) -> list[Any]:
        return [piece async for piece in model.astream(messages)]

    return lambda messages: join_pieces(loop.run(pieces(messages)))


def batched_async(model: Any, loop: asyncio.Runner) -> Answer:
    return lambda messages: loop.run(model.abatch([messages]))[0]


DELIVERIES = {
    "invoke": invoked,
    "stream": streamed,
    "batch": batched,
    "ainvoke": invoked_async,
    "astream": streamed_async,
    "abatch": batched_async,
}


def join_pieces(pieces: Any) -> AIMessage:
    message: AIMessage = reduce(add, pieces)
    return message


def turn(answer: Answer, messages: Messages, text: str) -> str:
    """The final answer, after all tool calls."""
    messages.append(HumanMessage(text))
    while calls := add_answer(answer, messages).tool_calls:
        messages.extend(echo.invoke(call) for call in calls)
    return str(messages[-1].text)


def add_answer(answer: Answer, messages: Messages) -> AIMessage:
    message = answer(messages)
    messages.append(message)
    return message


def hold_dialogue(ask: Callable[[str], str], calls: int = 1) -> None:
    """Three turns. The second one calls the tool once or twice."""
    assert ask(FACT) == "Noted."
    assert ask(ECHO + " twice" * (calls - 1)).startswith("echo said: hello")
    assert ask(RECALL) == "purple, Biscuit"


def complete_dialogue(calls: int = 1) -> list[str]:
    """The kinds of the items of a conversation after the three turns."""
    step = ["reasoning", *["function_call"] * calls, *["function_call_output"] * calls]
    return ["user", "assistant", "user", *step, "assistant", "user", "assistant"]


def kinds(items: list[Item]) -> list[str]:
    """The role of a message, or the type of another item."""
    return [
        item["role"] if item.get("type", "message") == "message" else item["type"] for item in items
    ]


def assert_dialogue_is_complete(provider: Provider, conversation: str, calls: int = 1) -> None:
    """The conversation has each item once, each was sent once, and no request was rejected."""
    assert kinds(provider.items(conversation)) == complete_dialogue(calls)
    assert provider.twice() == provider.refusals() == []
    sent = [kinds(items) for items in provider.sent()]
    assert sent == [["user"], ["user"], ["function_call_output"] * calls, ["user"]]


def assert_gone_on(provider: Provider) -> None:
    """After an abandoned turn, the model read no item twice.

    There is one rejection if the provider had not noticed the disconnect, or had not stored the
    turn. The client then sent the turn again.
    """
    assert provider.twice() == []
    assert len(provider.refusals()) <= 1
