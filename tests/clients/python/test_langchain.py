"""LangChain's chat model alone, with the tool loop written by hand."""

from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI

from context import (
    Tenant,
    assert_conversation_holds,
    assert_each_item_once,
    assert_only_new_is_sent,
)
from dialogue import FACT, RECALL, Echo, Scene, hold_dialogue
from leaving import MOMENTS, Moment, assert_gone_on, assert_recalled, whole_dialogue

TIMEOUT = 20


def invoke(model: Any, messages: list[Any]) -> AIMessage:
    return model.invoke(messages)


def stream(model: Any, messages: list[Any]) -> AIMessage:
    return reduce(add, model.stream(messages))


@pytest.mark.parametrize("delivery", [invoke, stream])
@pytest.mark.parametrize("way", [{"use_previous_response_id": True}, {}], ids=["chain", "replay"])
def test_three_turns(
    tenant: Tenant,
    scene: Scene,
    echo: Echo,
    way: dict[str, Any],
    delivery: Callable[[Any, list[Any]], AIMessage],
) -> None:
    model = chat_model(tenant, scene, echo, **way)
    messages: list[Any] = []

    def ask(text: str) -> str:
        messages.append(HumanMessage(text))
        return turn(lambda: delivery(model, messages), messages, echo)

    dialogue = hold_dialogue(scene, ask, echo)

    if scene.model != "sim":
        assert_each_item_once(tenant, dialogue)


@pytest.mark.parametrize("delivery", [invoke, stream])
@pytest.mark.parametrize("sends", ["this_turn", "all_turns"])
def test_three_turns_in_a_conversation(
    tenant: Tenant,
    scene: Scene,
    echo: Echo,
    sends: str,
    delivery: Callable[[Any, list[Any]], AIMessage],
) -> None:
    conversation = tenant.new_conversation()
    model = bound_model(tenant, scene, echo, conversation)
    messages: list[Any] = []

    def ask(text: str) -> str:
        if sends == "this_turn":
            messages.clear()
        messages.append(HumanMessage(text))
        return turn(lambda: delivery(model, messages), messages, echo)

    dialogue = hold_dialogue(scene, ask, echo)

    if scene.model != "sim":
        assert_each_item_once(tenant, dialogue)
        assert_conversation_holds(tenant, conversation, dialogue)
        assert_only_new_is_sent(tenant, dialogue)


# A provider that keeps no state is sent all of it.
@pytest.mark.stateful
def test_what_goes_upstream_stays_small_as_the_conversation_grows(
    tenant: Tenant, echo: Echo
) -> None:
    model = bound_model(tenant, Scene("fake-model"), echo, tenant.new_conversation())
    messages: list[Any] = []

    for number in range(10, 30):
        messages.append(HumanMessage(f"My lucky number is {number}"))
        messages.append(model.invoke(messages))

    requests = tenant.model_requests()
    assert [len(request.items) for request in requests] == [*range(1, 40, 2)]
    assert {len(request.sent) for request in requests} == {1}
    assert len({request.size for request in requests}) == 1


@pytest.mark.parametrize("moment", MOMENTS, ids=str)
@pytest.mark.parametrize("sends", ["this_turn", "all_turns"])
def test_a_stream_that_is_left(tenant: Tenant, echo: Echo, sends: str, moment: Moment) -> None:
    model = bound_model(tenant, Scene("fake-model"), echo, tenant.new_conversation())
    fact = HumanMessage(FACT)
    past = [fact, model.invoke([fact]), HumanMessage(moment.said)]

    tenant.stop_next_answer(moment.place)
    heard = leave(model, past[-1:] if sends == "this_turn" else past, moment)
    calls = heard.tool_call_chunks if moment.late_output else []
    outputs = [ToolMessage("hello", tool_call_id=call["id"]) for call in calls]
    new = [*outputs, HumanMessage(RECALL)]
    answer = model.invoke(new if sends == "this_turn" else [*past, *new])

    assert_recalled(answer.text)
    assert_gone_on(tenant, whole_dialogue(moment))


def leave(model: Any, messages: list[Any], moment: Moment) -> AIMessage:
    """What was read of a stream up to the piece behind which the upstream stops."""
    stream = model.stream(messages)
    heard = next(stream)
    while not is_told(heard, moment):
        heard += next(stream)
    stream.close()
    return heard


def is_told(heard: AIMessage, moment: Moment) -> bool:
    kinds = {block["type"] for block in heard.content}
    match moment.place:
        case "in_reasoning":
            return "reasoning" in kinds
        case "in_text":
            return bool(heard.text)
        case _:
            return any(chunk["args"] for chunk in heard.tool_call_chunks)


def turn(answer: Callable[[], AIMessage], messages: list[Any], echo: Echo) -> str:
    """Runs the tools that are called until none is, with every message sent again each time."""
    messages.append(answer())
    while calls := messages[-1].tool_calls:
        outputs = [ToolMessage(echo(**call["args"]), tool_call_id=call["id"]) for call in calls]
        messages.extend(outputs)
        messages.append(answer())
    return messages[-1].text


def bound_model(tenant: Tenant, scene: Scene, echo: Echo, conversation: str) -> Any:
    return chat_model(tenant, scene, echo).bind(conversation={"id": conversation})


def chat_model(tenant: Tenant, scene: Scene, echo: Echo, **options: Any) -> Any:
    def say_again(text: str) -> str:
        """Says the text again."""
        return echo(text)

    say_again.__name__ = "echo"
    model = ChatOpenAI(
        model=scene.model,
        base_url=tenant.base_url,
        api_key=tenant.api_key,
        timeout=TIMEOUT,
        max_retries=0,
        use_responses_api=True,
        **options,
    )
    return model.bind_tools([say_again])
