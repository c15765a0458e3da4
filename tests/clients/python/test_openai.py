"""The openai library, with the tool loop that its documentation shows."""

import asyncio
import json
from typing import Any

import pytest
from openai.types.responses import (
    FunctionToolParam,
    Response,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseReasoningItem,
    ResponseUsage,
)

from context import Tenant, assert_conversation_holds, assert_each_item_once
from dialogue import Echo, Scene, hold_dialogue
from openai_delivery import DELIVERIES, Respond
from openai_state import STATES, UNENCRYPTED, InConversation, State

ECHO_TOOL: FunctionToolParam = {
    "type": "function",
    "name": "echo",
    "description": "Says the text again.",
    "strict": True,
    "parameters": {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
        "additionalProperties": False,
    },
}


@pytest.mark.parametrize("delivery", DELIVERIES)
@pytest.mark.parametrize("way", STATES)
def test_three_turns(
    tenant: Tenant, loop: asyncio.Runner, scene: Scene, echo: Echo, way: str, delivery: str
) -> None:
    state = STATES[way](tenant)
    respond = DELIVERIES[delivery](tenant, loop)

    dialogue = hold_dialogue(scene, lambda text: turn(respond, state, scene, echo, text), echo)

    if scene.model == "sim":
        return
    lost = frozenset({"reasoning"}) if way == UNENCRYPTED else frozenset()
    assert_each_item_once(tenant, dialogue, without=lost)
    if isinstance(state, InConversation):
        assert_conversation_holds(tenant, state.conversation, dialogue)


def turn(respond: Respond, state: State, scene: Scene, echo: Echo, text: str) -> str:
    """Asks, runs the tools that are called until none is, and returns the answer."""
    new: list[Any] = [{"role": "user", "content": text}]
    while new:
        response = respond(model=scene.model, tools=[ECHO_TOOL], **state.params(new))
        assert_typed(response)
        state.accept(response)
        new = [output_of(item, echo) for item in response.output if item.type == "function_call"]
    return response.output_text


def output_of(call: ResponseFunctionToolCall, echo: Echo) -> dict[str, str]:
    output = echo(**json.loads(call.arguments))
    return {"type": "function_call_output", "call_id": call.call_id, "output": output}


def assert_typed(response: Response) -> None:
    """The library made its own types of everything, so nothing was of a shape unknown to it."""
    known = (ResponseOutputMessage, ResponseReasoningItem, ResponseFunctionToolCall)
    assert isinstance(response, Response)
    assert response.status == "completed"
    assert response.error is None
    assert response.id.startswith("resp_")
    assert isinstance(response.usage, ResponseUsage)
    assert response.output
    for item in response.output:
        assert isinstance(item, known), item
        type(item).model_validate(item.to_dict())
