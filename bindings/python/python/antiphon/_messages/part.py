"""Items and their positions in messages."""

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import BaseMessage

Item = dict[str, Any]
Block = str | dict[Any, Any]


@dataclass
class Part:
    """An item and its position in its message."""

    item: Item
    blocks: list[int] = field(default_factory=list)
    """The positions of its content blocks."""
    calls: list[int] = field(default_factory=list)
    """Its positions in the list of `tool_calls` followed by `invalid_tool_calls`."""
    is_keyword: bool = False
    """Whether it is the `reasoning` in `additional_kwargs`, as in output version `v0`."""


def blocks_of(message: BaseMessage) -> list[Block]:
    """The content as a list. A non-empty text is one block."""
    content = message.content
    if isinstance(content, str):
        return [content] if content else []
    return list(content)


def inner(block: Block) -> Block:
    """The value of a `non_standard` block, which wraps a block of another provider."""
    if isinstance(block, dict) and block.get("type") == "non_standard":
        value = block.get("value")
        return value if isinstance(value, dict) else block
    return block


def without_index(block: dict[Any, Any]) -> Item:
    """The block without the index that LangChain uses to join pieces of a stream."""
    return {key: value for key, value in block.items() if key != "index"}


def generated_id(*names: str) -> str:
    """Generates an id for a message item without one. Messages with the same LangChain id and the
    same content get the same id.
    """
    return "msg_" + hashlib.sha256("\0".join(names).encode()).hexdigest()[:32]


def text_of(content: Any) -> str:
    """The content as one text, to compare two items."""
    return content if isinstance(content, str) else json.dumps(content, default=str)
