"""Finds model messages that contain only reasoning."""

from collections.abc import Iterable

from langchain_core.messages import AIMessage, BaseMessage

import antiphon
from antiphon._messages.part import Item


def orphaned_reasoning(messages: Iterable[BaseMessage]) -> list[str]:
    """The ids of messages with reasoning, but without text or calls.

    Messages without an id are left out, because a removal needs an id.
    """
    outlines = [outline(message) for message in messages]
    mends = antiphon.filter_orphaned_reasoning(outlines).mends
    return list(dict.fromkeys(mend.id for mend in mends if mend.id))


def outline(message: BaseMessage) -> Item:
    """A message reduced to its role, the types of its blocks, and its calls."""
    if not isinstance(message, AIMessage):
        return {"type": "message", "role": "user", "content": ""}
    item: Item = {"type": "message", "role": "assistant", "content": ""}
    if message.id:
        item["id"] = message.id
    if isinstance(message.content, list):
        item["content"] = [kind_of(block) for block in message.content]
    calls = [*message.tool_calls, *message.invalid_tool_calls]
    item["tool_calls"] = [{"id": call["id"]} for call in calls]
    return item


def kind_of(block: object) -> Item | str:
    """A block without its content."""
    return {"type": str(block.get("type"))} if isinstance(block, dict) else ""
