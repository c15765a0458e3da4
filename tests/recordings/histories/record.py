"""Writes the histories that Python's libraries keep of one conversation, whole and cut short."""

import json
import sys
from pathlib import Path

from anthropic.types import Message
from langchain_core.load import dumpd
from langchain_core.messages import (
    AIMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    messages_to_dict,
)
from openai.types.chat import ChatCompletionMessage

SYSTEM, QUESTION, THANKS = "Be brief.", "Weather in Paris and Rome?", "Thanks."
LOOKING, ANSWER = "I look.", "20 degrees in Paris, 25 in Rome."
CALLS = [("call_1", {"city": "Paris"}, "20 degrees"), ("call_2", {"city": "Rome"}, "25 degrees")]


def langchain(calls_answered):
    tool_calls = [
        {"name": "weather", "args": args, "id": id, "type": "tool_call"} for id, args, _ in CALLS
    ]
    messages = [
        SystemMessage(SYSTEM),
        HumanMessage(QUESTION),
        AIMessage(LOOKING, tool_calls=tool_calls),
    ]
    messages += [ToolMessage(text, tool_call_id=id) for id, _, text in CALLS[:calls_answered]]
    if calls_answered == len(CALLS):
        messages.append(AIMessage(ANSWER))
    return [*messages, HumanMessage(THANKS)]


def chat(calls_answered):
    def said(**fields):
        return ChatCompletionMessage(role="assistant", **fields).model_dump()

    tool_calls = [
        {
            "id": id,
            "type": "function",
            "function": {"name": "weather", "arguments": json.dumps(args)},
        }
        for id, args, _ in CALLS
    ]
    messages = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": QUESTION},
        said(content=LOOKING, tool_calls=tool_calls),
    ]
    messages += [
        {"role": "tool", "tool_call_id": id, "content": text}
        for id, _, text in CALLS[:calls_answered]
    ]
    if calls_answered == len(CALLS):
        messages.append(said(content=ANSWER))
    return [*messages, {"role": "user", "content": THANKS}]


def anthropic(calls_answered):
    def said(*blocks):
        message = Message.model_validate(
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": "m",
                "content": blocks,
                "stop_reason": "tool_use",
                "stop_sequence": None,
                "usage": {"input_tokens": 1, "output_tokens": 1},
            }
        )
        content = [block.model_dump(exclude_none=True) for block in message.content]
        return {"role": "assistant", "content": content}

    uses = [
        {"type": "tool_use", "id": id, "name": "weather", "input": args} for id, args, _ in CALLS
    ]
    results = [
        {"type": "tool_result", "tool_use_id": id, "content": text}
        for id, _, text in CALLS[:calls_answered]
    ]
    messages = [
        {"role": "user", "content": QUESTION},
        said({"type": "text", "text": LOOKING}, *uses),
        {"role": "user", "content": results},
    ]
    if calls_answered == len(CALLS):
        messages.append(said({"type": "text", "text": ANSWER}))
    return {
        "model": "m",
        "max_tokens": 100,
        "system": SYSTEM,
        "messages": [*messages, {"role": "user", "content": THANKS}],
    }


FORMS = {
    "langchain-messages-to-dict": lambda count: messages_to_dict(langchain(count)),
    "langchain-dumpd": lambda count: dumpd(langchain(count)),
    "langchain-plain": lambda count: [message.model_dump() for message in langchain(count)],
    "chat-messages": chat,
    "chat-request": lambda count: {"model": "m", "messages": chat(count), "tools": []},
    "anthropic-request": anthropic,
}

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    for name, history in FORMS.items():
        for state, count in (("whole", len(CALLS)), ("cut-short", 1)):
            text = json.dumps(history(count), indent=2) + "\n"
            (folder / f"{name}.{state}.json").write_text(text)
