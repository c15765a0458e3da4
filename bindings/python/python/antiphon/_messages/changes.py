"""Applies a repair to messages: copies without the removed items, and added outputs."""

from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from antiphon._messages.part import Block, Item, Part, blocks_of


def copy_with(message: BaseMessage, parts: list[Part], left: dict[int, Item]) -> BaseMessage:
    """A copy of the message with the remaining items, by their positions among its parts."""
    update: dict[str, Any] = {"content": content_left(message, parts, left)}
    if isinstance(message, AIMessage):
        update |= calls_left(message, parts, left)
        update["additional_kwargs"] = keywords_left(message, parts, left)
    if isinstance(message, ToolMessage):
        update["tool_call_id"] = left[0]["call_id"]
    return message.model_copy(update=update)


def content_left(
    message: BaseMessage, parts: list[Part], left: dict[int, Item]
) -> str | list[Block]:
    """The blocks of remaining items, and blocks that belong to no item."""
    of_blocks = {block: number for number, part in enumerate(parts) for block in part.blocks}
    content = []
    for position, block in enumerate(blocks_of(message)):
        number = of_blocks.get(position)
        if number is None:
            content.append(block)
        elif number in left:
            content.append(with_ids(block, parts[number].item, left[number]))
    if isinstance(message.content, str):
        return message.content if content else ""
    return content


def calls_left(message: AIMessage, parts: list[Part], left: dict[int, Item]) -> dict[str, Any]:
    of_calls = {call: number for number, part in enumerate(parts) for call in part.calls}

    def remaining(calls: list[Any], first: int) -> list[Any]:
        numbered = [(of_calls[position], call) for position, call in enumerate(calls, first)]
        return [
            {**call, "id": left[number].get("call_id")}
            for number, call in numbered
            if number in left
        ]

    return {
        "tool_calls": remaining(message.tool_calls, 0),
        "invalid_tool_calls": remaining(message.invalid_tool_calls, len(message.tool_calls)),
    }


def keywords_left(message: AIMessage, parts: list[Part], left: dict[int, Item]) -> dict[str, Any]:
    """The keywords without removed reasoning and calls, which LangChain may send too."""
    keywords = dict(message.additional_kwargs)
    if parts[0].is_keyword:
        reasoning = keywords.pop("reasoning")
        if 0 in left:
            keywords["reasoning"] = with_ids(reasoning, parts[0].item, left[0])
    if "tool_calls" in keywords:
        stays = {item.get("call_id") for item in left.values()}
        keywords["tool_calls"] = [
            call for call in keywords["tool_calls"] if call.get("id") in stays
        ]
    return keywords


def with_ids(block: Block, before: Item, after: Item) -> Block:
    """The block with the ids of the repaired item."""
    if isinstance(block, str) or before is after:
        return block
    if isinstance(value := block.get("value"), dict):
        return {**block, "value": with_ids(value, before, after)}
    copy = dict(block)
    if before.get("id") != after.get("id") and "id" in before:
        copy.pop("id", None)
        copy |= {"id": after["id"]} if "id" in after and "id" in block else {}
    if before.get("call_id") != after.get("call_id"):
        is_named_by_id = "call_id" not in block and block.get("id") == before.get("call_id")
        copy["id" if is_named_by_id else "call_id"] = after["call_id"]
    return copy


def placeholder(item: Item, call: BaseMessage) -> BaseMessage:
    """The message of a placeholder output. `call` is the message with its call."""
    kind, call_id, output = item["type"], item.get("call_id"), item.get("output")
    if kind == "function_call_output":
        name = name_of(call, call_id)
        return ToolMessage(output, tool_call_id=call_id, name=name, status="error")
    if kind == "custom_tool_call_output":
        block = {"type": kind, "output": output}
        return ToolMessage([block], tool_call_id=call_id, status="error")
    return HumanMessage([item])


def name_of(message: BaseMessage, call_id: str | None) -> str | None:
    """The tool name of a call in the message."""
    if not isinstance(message, AIMessage):
        return None
    calls = [*message.tool_calls, *message.invalid_tool_calls]
    return next((call["name"] for call in calls if call["id"] == call_id), None)
