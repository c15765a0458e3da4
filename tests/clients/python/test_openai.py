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

import openai_leaving
from conftest import but_long
from context import (
    Tenant,
    assert_conversation_holds,
    assert_each_item_once,
    assert_only_new_is_sent,
    kind,
)
from dialogue import FACT, RECALL, Echo, Scene, hold_dialogue
from leaving import MOMENTS, Moment, assert_gone_on, assert_recalled, users, whole_dialogue
from openai_delivery import DELIVERIES, Respond, blocking_client
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


# The ways in which the gateway holds the items.
HELD = ["conversation", "previous_response_id"]


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
    if way in HELD:
        assert_only_new_is_sent(tenant, dialogue)


@pytest.mark.parametrize("delivery", but_long(openai_leaving.DELIVERIES, ["stream"]))
@pytest.mark.parametrize("moment", MOMENTS, ids=str)
@pytest.mark.parametrize("way", but_long(STATES, [*HELD, "replay_stored"]))
def test_a_turn_that_is_left(
    tenant: Tenant, loop: asyncio.Runner, way: str, moment: Moment, delivery: str
) -> None:
    state = STATES[way](tenant)
    respond = DELIVERIES[delivery](tenant, loop)
    leave = openai_leaving.DELIVERIES[delivery](tenant, loop)
    ask = {"model": "fake-model", "tools": [ECHO_TOOL]}
    state.accept(respond(**ask, **state.params([user(FACT)])))

    tenant.stop_next_answer(moment.place)
    heard = leave(moment, **ask, **state.params([user(moment.said)]))
    heard.settle(state)
    outputs = heard.late_outputs if moment.late_output else []
    recall = {**ask, "tool_choice": "none"}
    answer = respond(**recall, **state.params([*outputs, user(RECALL)]))

    assert_recalled(answer.output_text)
    assert_gone_on(tenant, whole_dialogue(moment))


# Once a stream has begun, the library does not retry.
TIME_OUTS = {
    "create": {"at": "head", "stream": False},
    "create_begun": {"at": "in_text", "stream": False},
    "stream": {"at": "head", "stream": True},
}


@pytest.mark.parametrize("time_out", TIME_OUTS)
@pytest.mark.parametrize("way", but_long(STATES, HELD))
def test_a_request_that_the_library_makes_again(tenant: Tenant, way: str, time_out: str) -> None:
    """A time-out, after which the library retries by itself, doubles no turn."""
    stops_at, stream = TIME_OUTS[time_out].values()
    state = STATES[way](tenant)
    client = blocking_client(tenant).with_options(max_retries=2, timeout=1)
    ask = {"model": "fake-model"}

    tenant.stop_next_answer(stops_at)
    response = client.responses.create(**ask, stream=stream, **state.params([user(FACT)]))
    state.accept([*response][-1].response if stream else response)
    recalled = client.responses.create(**ask, **state.params([user(RECALL)]))

    assert_recalled(recalled.output_text)
    assert [users(request.items) for request in tenant.model_requests()] == [
        [FACT],
        [FACT],
        [FACT, RECALL],
    ]
    assert_gone_on(tenant, [FACT, RECALL])
    if isinstance(state, InConversation):
        items = tenant.conversation_items(state.conversation)
        assert [kind(item) for item in items] == ["user", "assistant"] * 2


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def turn(respond: Respond, state: State, scene: Scene, echo: Echo, text: str) -> str:
    """Asks, runs the tools that are called until none is, and returns the answer."""
    new: list[Any] = [user(text)]
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
