"""Properties of every LangChain history, tested with seeded random histories."""

import random
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_openai.chat_models.base import _construct_responses_api_input

import antiphon
from antiphon.langgraph import mend_history


def history(seed: int) -> list[BaseMessage]:
    """Up to ten messages with few distinct ids, so that ids collide."""
    dice = random.Random(seed)
    return [dice.choice([user, model, model, tool])(dice) for _ in range(dice.randint(1, 10))]


def user(dice: random.Random) -> BaseMessage:
    return HumanMessage(dice.choice(["yes", "no"]), id=dice.choice([None, "h1", "h2"]))


def tool(dice: random.Random) -> BaseMessage:
    return ToolMessage(dice.choice(["hello", "bye"]), tool_call_id=call_id(dice))


def model(dice: random.Random) -> BaseMessage:
    blocks: Any = [dice.choice([text, reasoning, call])(dice) for _ in range(dice.randint(0, 3))]
    calls = [tool_call(block) for block in blocks if block["type"] == "function_call"]
    if dice.random() < 0.3:
        calls.append(tool_call(call(dice)))
    if dice.random() < 0.2:
        blocks = dice.choice(["", "Noted."])
    name = f"resp_{blocks}_{calls}" if dice.random() < 0.7 else None
    return AIMessage(blocks, tool_calls=calls, id=name)


def text(dice: random.Random) -> dict[str, Any]:
    number = dice.randint(1, 3)
    ids = dice.choice([{}, {"id": f"msg_{number}"}])
    return {"type": "text", "text": f"No. {number}.", "annotations": [], **ids}


def reasoning(dice: random.Random) -> dict[str, Any]:
    return {"type": "reasoning", "id": f"rs_{dice.randint(1, 3)}", "summary": []}


def call(dice: random.Random) -> dict[str, Any]:
    arguments = f'{{"text":"{dice.choice(["hello", "bye"])}"}}'
    ids = {"id": f"fc_{dice.randint(1, 3)}", "call_id": call_id(dice)}
    return {"type": "function_call", "name": "echo", "arguments": arguments, **ids}


def call_id(dice: random.Random) -> str:
    return f"call_{dice.randint(1, 3)}" + "x" * dice.choice([0, 0, 0, 80])


def tool_call(block: dict[str, Any]) -> Any:
    text = block["arguments"].split('"')[3]
    return {"type": "tool_call", "name": "echo", "args": {"text": text}, "id": block["call_id"]}


def sent(messages: list[BaseMessage]) -> list[dict[str, Any]]:
    """The items that LangChain sends."""
    return _construct_responses_api_input(messages)


def hides_something(messages: list[BaseMessage]) -> bool:
    """Whether LangChain's items hide a fault of the messages: two messages with the same id and
    content, or two calls with the same id, of which LangChain sends one.
    """
    said = [(message.id, str(message.content)) for message in messages if message.id]
    models = [message for message in messages if isinstance(message, AIMessage)]
    calls = [call["id"] for message in models for call in message.tool_calls]
    return len(set(said)) < len(said) or len(set(calls)) < len(calls)


@pytest.mark.parametrize("first", range(0, 1000, 100))
def test_laws(first: int) -> None:
    for seed in range(first, first + 100):
        messages = history(seed)
        before = [message.model_copy(deep=True) for message in messages]

        view = mend_history({"messages": messages})["llm_input_messages"]

        assert messages == before, f"{seed}: what is given stays as it is"
        assert antiphon.check(sent(view)) == [], f"{seed}: what is sent is accepted"
        again = mend_history({"messages": view})["llm_input_messages"]
        assert list(map(id, again)) == list(map(id, view)), f"{seed}: mending twice is mending once"
        if not antiphon.check(sent(messages)) and not hides_something(messages):
            assert sent(view) == sent(messages), f"{seed}: what is in order is left alone"
