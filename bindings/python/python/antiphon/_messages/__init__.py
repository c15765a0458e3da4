"""LangChain messages as the items that they stand for, and mended items as messages again."""

from antiphon._messages.mending import Mended, mend
from antiphon._messages.orphans import orphaned_reasoning
from antiphon._messages.parts import Part, parts_of

__all__ = ["Mended", "Part", "mend", "orphaned_reasoning", "parts_of"]
