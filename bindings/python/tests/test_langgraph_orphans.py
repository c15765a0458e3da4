"""`filter_orphaned_reasoning_messages`: orphans, other messages, and the update."""

from dataclasses import dataclass
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langgraph.graph.message import add_messages
from pydantic import BaseModel

from antiphon.langgraph import filter_orphaned_reasoning_messages

REASONING = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "Echo it."}],
}
TEXT = {"type": "text", "text": "Noted."}
CALL: Any = {"type": "tool_call", "id": "call_1", "name": "echo", "args": {}}
BROKEN_CALL: Any = {**CALL, "type": "invalid_tool_call", "args": '{"te', "error": "no JSON"}


def orphan(name: str | None = "run-1") -> AIMessage:
    return AIMessage([REASONING], id=name)


def removed(*messages: BaseMessage) -> list[str]:
    """The ids of the removed messages; empty if there is no update."""
    update = filter_orphaned_reasoning_messages({"messages": list(messages)})
    if update is None:
        return []
    assert list(update) == ["messages"]
    assert all(type(message) is RemoveMessage for message in update["messages"])
    return [str(message.id) for message in update["messages"]]


def test_an_orphan_between_two_turns_is_removed() -> None:
    user, bye = HumanMessage("hi", id="h1"), HumanMessage("bye", id="h2")
    update = filter_orphaned_reasoning_messages({"messages": [user, orphan(), bye]})

    assert update == {"messages": [RemoveMessage(id="run-1")]}
    assert add_messages([user, orphan(), bye], update["messages"]) == [user, bye]  # type: ignore[arg-type]


def test_an_orphan_at_the_end_is_removed() -> None:
    assert removed(HumanMessage("hi"), orphan()) == ["run-1"]


def test_an_orphan_that_an_answer_follows_is_removed() -> None:
    assert removed(orphan(), AIMessage("Noted.", id="run-2")) == ["run-1"]


def test_reasoning_in_several_blocks_is_one_orphan() -> None:
    assert removed(AIMessage([REASONING, {**REASONING, "id": "rs_2"}], id="run-1")) == ["run-1"]


def test_several_orphans_are_all_removed() -> None:
    assert removed(orphan("run-1"), HumanMessage("hi"), orphan("run-2"), orphan("run-3")) == [
        "run-1",
        "run-2",
        "run-3",
    ]


def test_history_without_orphans_needs_no_update() -> None:
    messages = [HumanMessage("hi"), AIMessage([REASONING, TEXT], id="run-1")]
    assert filter_orphaned_reasoning_messages({"messages": messages}) is None


def test_no_messages_are_no_update() -> None:
    assert filter_orphaned_reasoning_messages({"messages": []}) is None


@pytest.mark.parametrize("content", ["", []])
def test_message_without_content_is_not_an_orphan(content: Any) -> None:
    assert removed(AIMessage(content, id="run-1")) == []


def test_text_is_not_an_orphan() -> None:
    assert removed(AIMessage("reasoning", id="run-1")) == []


@pytest.mark.parametrize(
    "content", [[REASONING, TEXT], [TEXT, REASONING], [REASONING, "Noted."], [TEXT]]
)
def test_complete_turn_is_not_an_orphan(content: Any) -> None:
    assert removed(AIMessage(content, id="run-1")) == []


def test_reasoning_with_a_call_is_not_an_orphan() -> None:
    assert removed(AIMessage([REASONING], tool_calls=[CALL], id="run-1")) == []


def test_reasoning_with_an_invalid_call_is_kept() -> None:
    """LangChain sends it as a call anyway."""
    assert removed(AIMessage([REASONING], invalid_tool_calls=[BROKEN_CALL], id="run-1")) == []


def test_other_roles_are_not_orphans() -> None:
    blocks: Any = [REASONING]
    others = [
        HumanMessage(blocks, id="m1"),
        SystemMessage(blocks, id="m2"),
        ToolMessage(blocks, tool_call_id="call_1", id="m3"),
        ChatMessage(content=blocks, role="assistant", id="m4"),
    ]
    assert removed(*others) == []


@pytest.mark.parametrize("name", [None, ""])
def test_an_orphan_without_an_id_is_skipped(name: str | None) -> None:
    assert removed(orphan(name)) == []
    assert removed(orphan(name), orphan("run-2")) == ["run-2"]


def test_second_filter_removes_nothing() -> None:
    user, answer = HumanMessage("hi", id="h1"), AIMessage("Hi", id="run-2")
    messages: list[AnyMessage] = [user, orphan(), answer]
    update = filter_orphaned_reasoning_messages({"messages": messages})
    assert update is not None

    left = add_messages(messages, update["messages"])  # type: ignore[arg-type]

    assert filter_orphaned_reasoning_messages({"messages": left}) is None


def test_input_is_not_modified() -> None:
    messages = [HumanMessage("hi", id="h1"), orphan()]
    before = [message.model_copy(deep=True) for message in messages]

    filter_orphaned_reasoning_messages({"messages": messages})

    assert messages == before


class PydanticState(BaseModel):
    messages: list[AnyMessage]


@dataclass
class DataclassState:
    messages: list[BaseMessage]


@pytest.mark.parametrize("state", [PydanticState, DataclassState])
def test_a_state_may_be_an_object(state: Any) -> None:
    update = filter_orphaned_reasoning_messages(state(messages=[orphan()]))
    assert update == {"messages": [RemoveMessage(id="run-1")]}
