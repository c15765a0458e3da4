"""The items of a message of the model."""

import json
from typing import Any

from langchain_core.messages import AIMessage

from antiphon._messages.part import (
    Block,
    Item,
    Part,
    blocks_of,
    inner,
    made_up_id,
    text_of,
    without_index,
)

# Ids that LangChain makes up begin like this. It sends none of them.
MADE_UP = "lc_"

TEXTS = ("text", "output_text", "refusal")
CALLS = ("function_call", "custom_tool_call")
# Blocks that name a call in their `id`, as LangChain itself and Anthropic have them.
NAMED_BY_ID = ("tool_call", "invalid_tool_call", "tool_use")
# What of any other block tells of its item.
HEAD = ("type", "id", "call_id", "status", "approval_request_id", "encrypted_content")


class ModelParts:
    """Reads a message of the model: its reasoning, texts and calls in the order of its blocks, and
    behind them the calls that no block tells of.
    """

    def __init__(self, message: AIMessage) -> None:
        self.message = message
        self.parts: list[Part] = []
        self.texts: dict[str, Part] = {}
        # The calls that blocks tell of, and of which `tool_calls` tells too.
        self.of_blocks: dict[str | None, list[Part]] = {}
        # How many parts there were, and the block's id, when reasoning last came in pieces.
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
            # LangChain sends it.
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
        """Blocks with one id are one message of the model."""
        block_id = None if isinstance(block, str) else own_id(block)
        said = block if isinstance(block, str) else block.get("text") or block.get("refusal") or ""
        if block_id in self.texts:
            part = self.texts[block_id]
            part.blocks.append(position)
            part.item["content"] += said
            return
        item: Item = {"type": "message", "role": "assistant", "content": said}
        if block_id:
            item["id"] = block_id
        elif self.message.id:
            item["id"] = made_up_id(self.message.id, text_of(self.message.content), str(position))
        part = Part(item, [position])
        self.parts.append(part)
        if block_id:
            self.texts[block_id] = part

    def add_reasoning(self, position: int, block: dict[Any, Any]) -> None:
        """A block for each part of a summary, as output version `v1` has them, is one item."""
        is_piece = "reasoning" in block and "summary" not in block
        if is_piece and self.pieces_of == (len(self.parts), block.get("id")):
            self.parts[-1].blocks.append(position)
            return
        self.parts.append(Part(item_of_block(block), [position]))
        self.pieces_of = (len(self.parts), block.get("id")) if is_piece else None

    def add_call(self, position: int, call: Any) -> None:
        """A call that a block of the same id tells of is that block's, as LangChain has it."""
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
    """A call as LangChain tells of it: the arguments parsed, or text that is no JSON."""
    item: Item = {"type": "function_call", "name": name or ""}
    item["arguments"] = arguments if isinstance(arguments, str) else json.dumps(arguments)
    if call_id is not None:
        item["call_id"] = call_id
    return item


def item_of_block(block: dict[Any, Any]) -> Item:
    """What tells whose a block is; all of it where it may be compared with another."""
    if "call_id" in block:
        return without_index(block)
    item = {key: block[key] for key in HEAD if key in block}
    if own_id(block) is None:
        item.pop("id", None)
    return item


def own_id(block: dict[Any, Any]) -> str | None:
    """The id that the provider gave the block."""
    block_id = block.get("id")
    is_own = isinstance(block_id, str) and block_id and not block_id.startswith(MADE_UP)
    return str(block_id) if is_own else None
