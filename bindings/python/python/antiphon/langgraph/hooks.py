"""Nodes that go before the model's: hooks for `create_react_agent(…, pre_model_hook=…)`."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage, RemoveMessage

from antiphon._messages import mended, orphaned_reasoning

State = Any
"""A graph's state with `messages`: a mapping, a dataclass or a pydantic model."""


def filter_orphaned_reasoning_messages(state: State) -> dict[str, list[RemoveMessage]] | None:
    """Removes, for good, messages of the model that hold nothing but reasoning.

    That is what a stream that was aborted leaves in a graph's state. A provider refuses it in every
    later turn: `Item 'rs_…' of type 'reasoning' was provided without its required following item.`

    Orphaned is an `AIMessage` whose content is a non-empty list of blocks of `type="reasoning"`
    alone, and that calls no tool. What has no `id` is not touched, as nothing can name it. The
    update is `None` where there is nothing to remove.
    """
    orphans = orphaned_reasoning(messages_of(state))
    return {"messages": [RemoveMessage(id=orphan) for orphan in orphans]} if orphans else None


def mend_history(state: State, *, policy: str | None = None) -> dict[str, list[BaseMessage]]:
    """What the model is given in place of the state's `messages`, which stay as they are.

    A call that nobody answered is followed by a `ToolMessage` that says so; repeated messages and
    outputs, outputs without a call and orphaned reasoning are left out. Messages that need no
    change are the very objects of the state. `policy` is that of `antiphon.repair`; where it
    rejects what is found, a `Fault` is raised.
    """
    return {"llm_input_messages": mended(messages_of(state), policy).messages}


def messages_of(state: State) -> Sequence[BaseMessage]:
    """The messages of a state. Raises `TypeError` where there are none, or they are others."""
    has_them = "messages" in state if isinstance(state, Mapping) else hasattr(state, "messages")
    if not has_them:
        raise TypeError(f"state is to be a graph's, with messages, not {type(state).__name__}")
    found = state["messages"] if isinstance(state, Mapping) else state.messages
    if isinstance(found, (str, Mapping)) or not isinstance(found, Iterable):
        raise TypeError(f"messages is to be a list of messages, not {type(found).__name__}")
    return [message_of(position, message) for position, message in enumerate(found)]


def message_of(position: int, message: Any) -> BaseMessage:
    if not isinstance(message, BaseMessage):
        kind = type(message).__name__
        raise TypeError(f"messages[{position}] is to be a message of LangChain's, not {kind}")
    return message
