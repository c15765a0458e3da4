"""LangChain messages as the items that they stand for, and mended items as messages again."""

from antiphon._messages.mending import MendedMessages, mended
from antiphon._messages.orphans import orphaned_reasoning

__all__ = ["MendedMessages", "mended", "orphaned_reasoning"]
