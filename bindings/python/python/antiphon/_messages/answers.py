"""The items of a model message."""

import json
from typing import Any

from langchain_core.messages import AIMessage

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

# The prefix of ids that LangChain generates. It does not send them.
GENERATED = "lc_"

TEXTS = ("text", "output_text", "refusal")
CALLS = ("function_call", "custom_tool_call")
# Blocks of LangChain and Anthropic that have the call id as their `id`.
NAMED_BY_ID = ("tool_call", "invalid_tool_call", "tool_use")
# The fields of other blocks that identify their item. Reasoning with content needs no id.
HEAD = ("type", "id", "call_id", "status", "approval_request_id", "encrypted_content", "content")


class ModelParts:
    """Reads a model message: its reasoning, texts and calls in the order of its blocks, then the
    calls without a block.
    """

    def __init__(self, message: AIMessage) -> None:
        self.message = message
        self.parts: list[Part] = []
        self.texts: dict[str, Part] = {}
        # The calls of blocks by call id. `tool_calls` lists them a second time.
        self.of_blocks: dict[str | None, list[Part]] = {}
        # The number of parts and the block id after the last piece of reasoning.
        self.pieces_of: tuple[int, object] | None = None

    def read(self) -> list[Part]:
        reasoning = self.message.additional_kwargs.get("reasoning")
        if isinstance(reasoning, dict):
            item = {**without_index(reasoning), "type": "reasoning"}
            self.parts.append(Part(item, is_keyword=True))
        for position, block in enumerate(blocks_of(self.message)):
            self.add_block(position, inner(block))
        calls = [*self.message.tool_calls, *self.message.invalid_tool_calls]
        if self.message.content == "" and not calls and not self.parts:
            # LangChain sends this empty message.
            self.parts.append(Part({"type": "message", "role": "assistant", "content": ""}))
        for position, call in enumerate(calls):
            self.add_call(position, call)
        return self.parts

    def add_block(self, position: int, block: Block) -> None:
        kind = "text" if isinstance(block, str) else block.get("type")
        if isinstance(block, str) or kind in TEXTS:
            self.add_text(position, block)
        elif kind == "reasoning":
            self.add_reasoning(position, block)
        elif kind in CALLS or kind in NAMED_BY_ID:
            part = Part(call_of_block(block), [position])
            self.of_blocks.setdefault(part.item.get("call_id"), []).append(part)
            self.parts.append(part)
        else:
            self.parts.append(Part(item_of_block(block), [position]))

    def add_text(self, position: int, block: Block) -> None:
        """Adds a text. Blocks with the same id are one message item."""
        block_id = None if isinstance(block, str) else own_id(block)
        text = block if isinstance(block, str) else block.get("text") or block.get("refusal") or ""
        if block_id in self.texts:
            part = self.texts[block_id]
            part.blocks.append(position)
            part.item["content"] += text
            return
        item: Item = {"type": "message", "role": "assistant", "content": text}
        if block_id:
            item["id"] = block_id
        elif self.message.id:
            item["id"] = generated_id(self.message.id, text_of(self.message.content), str(position))
        part = Part(item, [position])
        self.parts.append(part)
        if block_id:
            self.texts[block_id] = part

    def add_reasoning(self, position: int, block: dict[Any, Any]) -> None:
        """Adds reasoning. Consecutive blocks of one summary (output version `v1`) are one item."""
        is_piece = "reasoning" in block and "summary" not in block
        if is_piece and self.pieces_of == (len(self.parts), block.get("id")):
            self.parts[-1].blocks.append(position)
            return
        self.parts.append(Part(item_of_block(block), [position]))
        self.pieces_of = (len(self.parts), block.get("id")) if is_piece else None

    def add_call(self, position: int, call: Any) -> None:
        """Adds a call of `tool_calls`, or assigns it to the block with the same call id."""
        if of_blocks := self.of_blocks.get(call["id"]):
            part = of_blocks.pop(0) if len(of_blocks) > 1 else of_blocks[0]
            part.calls.append(position)
        else:
            item = call_item(call["id"], call["name"], call["args"])
            self.parts.append(Part(item, [], [position]))


def call_of_block(block: dict[Any, Any]) -> Item:
    if block["type"] in CALLS:
        return without_index(block)
    return call_item(block.get("id"), block.get("name"), block.get("args", block.get("input")))


def call_item(call_id: str | None, name: str | None, arguments: Any) -> Item:
    """The item of a LangChain call. Arguments are parsed, or a text that is not JSON."""
    item: Item = {"type": "function_call", "name": name or ""}
    item["arguments"] = arguments if isinstance(arguments, str) else json.dumps(arguments)
    if call_id is not None:
        item["call_id"] = call_id
    return item


def item_of_block(block: dict[Any, Any]) -> Item:
    """The identifying fields of a block; all fields if it has a `call_id`."""
    if "call_id" in block:
        return without_index(block)
    item = {key: block[key] for key in HEAD if key in block}
    if own_id(block) is None:
        item.pop("id", None)
    return item


def own_id(block: dict[Any, Any]) -> str | None:
    """The id of the block, if the provider assigned it."""
    block_id = block.get("id")
    is_own = isinstance(block_id, str) and block_id and not block_id.startswith(GENERATED)
    return str(block_id) if is_own else None
