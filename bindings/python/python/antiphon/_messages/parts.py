"""What items a message stands for, and where in the message each of them is."""

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolMessage

Item = dict[str, Any]
Block = str | dict[Any, Any]

# Ids that LangChain makes up begin like this. It sends none of them.
MADE_UP = "lc_"


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


def parts_of(message: BaseMessage) -> list[Part]:
    """The items of a message in their order. Empty where it says nothing and calls nothing."""
    from antiphon._messages.answers import ModelParts

    if isinstance(message, AIMessage):
        return ModelParts(message).read()
    if isinstance(message, ToolMessage):
        return [tool_part(message)]
    return caller_parts(message)


def caller_parts(message: BaseMessage) -> list[Part]:
    """The outputs among the blocks of a caller's message, and the message of what is left."""
    blocks = blocks_of(message)
    outputs = [
        Part(item, [position])
        for position, block in enumerate(blocks)
        if (item := output_of(block)) is not None
    ]
    answered = {position for part in outputs for position in part.blocks}
    said = [position for position in range(len(blocks)) if position not in answered]
    if outputs and not said:
        return outputs
    content = text_of([blocks[position] for position in said])
    item: Item = {"type": "message", "role": role_of(message), "content": content}
    if message.id:
        item["id"] = made_up_id(message.id, content)
    return [*outputs, Part(item, said)]


def output_of(block: Block) -> Item | None:
    """The item of a block that answers a call and is no message."""
    block = inner(block)
    if isinstance(block, str):
        return None
    kind = str(block.get("type"))
    if kind == "tool_result" and "tool_use_id" in block:
        return output_item("function_call_output", str(block["tool_use_id"]), block.get("content"))
    if kind.endswith("_output") or kind == "mcp_approval_response":
        return without_index(block)
    return None


def tool_part(message: ToolMessage) -> Part:
    """A tool's output, of the kind that LangChain sends it as."""
    kind = message.additional_kwargs.get("type")
    if kind == "computer_call_output":
        return Part(output_item(kind, message.tool_call_id, message.content))
    for position, block in enumerate(blocks_of(message)):
        block = inner(block)
        if isinstance(block, dict) and block.get("type") in OTHER_OUTPUTS:
            item = output_item(block["type"], message.tool_call_id, block.get("output"))
            return Part(item, [position])
    return Part(output_item("function_call_output", message.tool_call_id, message.content))


OTHER_OUTPUTS = ("custom_tool_call_output", "computer_call_output")


def output_item(kind: str, call_id: str, output: Any) -> Item:
    return {"type": kind, "call_id": call_id, "output": text_of(output)}


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


def role_of(message: BaseMessage) -> str:
    return "system" if isinstance(message, SystemMessage) else "user"


def made_up_id(*names: str) -> str:
    """An id for a message item that has none of its own. Items that LangChain gave one id and that
    say the same are one.
    """
    return "msg_" + hashlib.sha256("\0".join(names).encode()).hexdigest()[:32]


def text_of(content: Any) -> str:
    """Content as one text, by which two items are compared."""
    return content if isinstance(content, str) else json.dumps(content, default=str)
