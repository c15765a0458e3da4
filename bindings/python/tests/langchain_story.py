"""A dialogue of three turns with a LangChain model: a fact, a turn with a tool, a recall."""

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
    """Says the text again."""
    return text


def invoked(model: Any, _loop: asyncio.Runner) -> Answer:
    return lambda messages: model.invoke(messages)


def streamed(model: Any, _loop: asyncio.Runner) -> Answer:
    return lambda messages: whole_message(model.stream(messages))


def batched(model: Any, _loop: asyncio.Runner) -> Answer:
    return lambda messages: model.batch([messages])[0]


def invoked_async(model: Any, loop: asyncio.Runner) -> Answer:
    return lambda messages: loop.run(model.ainvoke(messages))


def streamed_async(model: Any, loop: asyncio.Runner) -> Answer:
    async def pieces(messages: Messages) -> list[Any]:
        return [piece async for piece in model.astream(messages)]

    return lambda messages: whole_message(loop.run(pieces(messages)))


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


def whole_message(pieces: Any) -> AIMessage:
    message: AIMessage = reduce(add, pieces)
    return message


def turn(answer: Answer, messages: Messages, text: str) -> str:
    """What is answered in the end, once every tool that is called was run."""
    messages.append(HumanMessage(text))
    while calls := add_answer(answer, messages).tool_calls:
        messages.extend(echo.invoke(call) for call in calls)
    return str(messages[-1].text)


def add_answer(answer: Answer, messages: Messages) -> AIMessage:
    message = answer(messages)
    messages.append(message)
    return message


def hold_dialogue(ask: Callable[[str], str], calls: int = 1) -> None:
    """Three turns, in the second of which the tool is called once or twice."""
    assert ask(FACT) == "Noted."
    assert ask(ECHO + " twice" * (calls - 1)).startswith("echo said: hello")
    assert ask(RECALL) == "purple, Biscuit"


def whole_dialogue(calls: int = 1) -> list[str]:
    """What a conversation holds behind the three turns: the kinds of its items."""
    step = ["reasoning", *["function_call"] * calls, *["function_call_output"] * calls]
    return ["user", "assistant", "user", *step, "assistant", "user", "assistant"]


def kinds(items: list[Item]) -> list[str]:
    """A message's role, any other item's type."""
    return [
        item["role"] if item.get("type", "message") == "message" else item["type"] for item in items
    ]


def assert_dialogue_is_whole(provider: Provider, conversation: str, calls: int = 1) -> None:
    """The conversation has each item once, nothing was refused, and each was sent once."""
    assert kinds(provider.items(conversation)) == whole_dialogue(calls)
    assert provider.twice() == provider.refusals() == []
    sent = [kinds(items) for items in provider.sent()]
    assert sent == [["user"], ["user"], ["function_call_output"] * calls, ["user"]]


def assert_gone_on(provider: Provider) -> None:
    """Nothing was given twice behind a turn that was left. Where the provider had not noticed yet,
    or knows nothing of that turn, one refusal told; then what was said went once more.
    """
    assert provider.twice() == []
    assert len(provider.refusals()) <= 1
