"""An item, and where in its message it stands."""

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import BaseMessage

Item = dict[str, Any]
Block = str | dict[Any, Any]


@dataclass
class Part:
    """An item, and where in its message it is."""

    item: Item
    blocks: list[int] = field(default_factory=list)
    """The positions of its content blocks."""
    calls: list[int] = field(default_factory=list)
    """Its positions among `tool_calls` and, behind those, `invalid_tool_calls`."""
    is_keyword: bool = False
    """Whether it is the `reasoning` of `additional_kwargs`, where output version `v0` has it."""


def blocks_of(message: BaseMessage) -> list[Block]:
    """The content as a list. Bare text is one block, and no text none."""
    content = message.content
    if isinstance(content, str):
        return [content] if content else []
    return list(content)


def inner(block: Block) -> Block:
    """What a block of another provider holds, where it is wrapped as one."""
    if isinstance(block, dict) and block.get("type") == "non_standard":
        value = block.get("value")
        return value if isinstance(value, dict) else block
    return block


def without_index(block: dict[Any, Any]) -> Item:
    """The block without what LangChain joins the pieces of a stream by."""
    return {key: value for key, value in block.items() if key != "index"}


def made_up_id(*names: str) -> str:
    """An id for a message item that has none of its own. Messages that LangChain gave one id and
    that say the same are one.
    """
    return "msg_" + hashlib.sha256("\0".join(names).encode()).hexdigest()[:32]


def text_of(content: Any) -> str:
    """Content as one text, by which two items are compared."""
    return content if isinstance(content, str) else json.dumps(content, default=str)
