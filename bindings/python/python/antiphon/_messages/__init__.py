"""Repairs LangChain messages: converts them to items, repairs these, and converts them back."""

from antiphon._messages.orphans import orphaned_reasoning
from antiphon._messages.repairing import RepairedMessages, repair_messages

__all__ = ["RepairedMessages", "orphaned_reasoning", "repair_messages"]
