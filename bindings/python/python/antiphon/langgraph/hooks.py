"""Nodes that run before the model: hooks for `create_react_agent(…, pre_model_hook=…)`."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage, RemoveMessage

from antiphon._messages import orphaned_reasoning, repair_messages

State = Any
"""A graph's state with `messages`: a mapping, a dataclass or a pydantic model."""


def filter_orphaned_reasoning_messages(state: State) -> dict[str, list[RemoveMessage]] | None:
    """Permanently removes model messages that contain only reasoning.

    An aborted stream leaves such a message in a graph's state. A provider rejects it in every later
    turn: `Item 'rs_…' of type 'reasoning' was provided without its required following item.`

    Removes each `AIMessage` whose content is a non-empty list of `type="reasoning"` blocks and that
    calls no tool. Skips messages without an `id`, because a removal needs one. Returns `None` if
    there is nothing to remove.
    """
    orphans = orphaned_reasoning(messages_of(state))
    return {"messages": [RemoveMessage(id=orphan) for orphan in orphans]} if orphans else None


def mend_history(state: State, *, policy: str | None = None) -> dict[str, list[BaseMessage]]:
    """Returns repaired messages for the model. The state's `messages` do not change.

    Adds a `ToolMessage` with an error status after a call without an output. Leaves out repeated
    messages and outputs, outputs without a call, and orphaned reasoning. A message that needs no
    repair is the same object as in the state. `policy` is the policy of `antiphon.repair`; if it
    rejects a fault, raises that `Fault`.
    """
    return {"llm_input_messages": repair_messages(messages_of(state), policy).messages}


def messages_of(state: State) -> Sequence[BaseMessage]:
    """The messages of a state. Raises `TypeError` if it has none or they have a wrong type."""
    has_them = "messages" in state if isinstance(state, Mapping) else hasattr(state, "messages")
    if not has_them:
        raise TypeError(f"state must be a graph state with messages, not {type(state).__name__}")
    found = state["messages"] if isinstance(state, Mapping) else state.messages
    if isinstance(found, (str, Mapping)) or not isinstance(found, Iterable):
        raise TypeError(f"messages must be a list of messages, not {type(found).__name__}")
    return [message_of(position, message) for position, message in enumerate(found)]


def message_of(position: int, message: Any) -> BaseMessage:
    if not isinstance(message, BaseMessage):
        kind = type(message).__name__
        raise TypeError(f"messages[{position}] must be a LangChain message, not {kind}")
    return message
