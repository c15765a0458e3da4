"""The items of messages that are not the model's: of users, systems and tools."""

from typing import Any

from langchain_core.messages import BaseMessage, SystemMessage, ToolMessage

from antiphon._messages.part import (
    Block,
    Item,
    Part,
    blocks_of,
    inner,
    generated_id,
    text_of,
    without_index,
)

OTHER_OUTPUTS = ("custom_tool_call_output", "computer_call_output")


def caller_parts(message: BaseMessage) -> list[Part]:
    """The outputs among the blocks of a message, then a message of the other blocks."""
    blocks = blocks_of(message)
    outputs = [
        Part(output, [position])
        for position, block in enumerate(blocks)
        if (output := output_of(block)) is not None
    ]
    answered = {position for part in outputs for position in part.blocks}
    others = [position for position in range(len(blocks)) if position not in answered]
    if outputs and not others:
        return outputs
    content = text_of([blocks[position] for position in others])
    item: Item = {"type": "message", "role": role_of(message), "content": content}
    if message.id:
        item["id"] = generated_id(message.id, content)
    return [*outputs, Part(item, others)]


def output_of(block: Block) -> Item | None:
    """The item of a block that is an output, not a message."""
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
    """A tool's output, of the type that LangChain sends."""
    kind = message.additional_kwargs.get("type")
    if kind == "computer_call_output":
        return Part(output_item(kind, message.tool_call_id, message.content))
    for position, block in enumerate(blocks_of(message)):
        block = inner(block)
        if isinstance(block, dict) and block.get("type") in OTHER_OUTPUTS:
            item = output_item(block["type"], message.tool_call_id, block.get("output"))
            return Part(item, [position])
    return Part(output_item("function_call_output", message.tool_call_id, message.content))


def output_item(kind: str, call_id: str, output: Any) -> Item:
    return {"type": kind, "call_id": call_id, "output": text_of(output)}


def role_of(message: BaseMessage) -> str:
    return "system" if isinstance(message, SystemMessage) else "user"
