"""Converts messages to items."""

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from antiphon._messages.answers import ModelParts
from antiphon._messages.callers import caller_parts, tool_part
from antiphon._messages.part import Part


def parts_of(message: BaseMessage) -> list[Part]:
    """The items of a message in order. Empty if it has no text and no call."""
    if isinstance(message, AIMessage):
        return ModelParts(message).read()
    if isinstance(message, ToolMessage):
        return [tool_part(message)]
    return caller_parts(message)
