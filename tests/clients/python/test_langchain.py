"""LangChain's chat model alone, bound to a conversation, with the tool loop written by hand."""

from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI

from context import Tenant, assert_conversation_holds, assert_each_item_once
from dialogue import Echo, Scene, hold_dialogue

TIMEOUT = 20


def invoke(model: Any, messages: list[Any]) -> AIMessage:
    return model.invoke(messages)


def stream(model: Any, messages: list[Any]) -> AIMessage:
    return reduce(add, model.stream(messages))


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


def turn(answer: Callable[[], AIMessage], messages: list[Any], echo: Echo) -> str:
    """Runs the tools that are called until none is, with every message sent again each time."""
    messages.append(answer())
    while calls := messages[-1].tool_calls:
        outputs = [ToolMessage(echo(**call["args"]), tool_call_id=call["id"]) for call in calls]
        messages.extend(outputs)
        messages.append(answer())
    return messages[-1].text


def bound_model(tenant: Tenant, scene: Scene, echo: Echo, conversation: str) -> Any:
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
    )
    return model.bind_tools([say_again]).bind(conversation={"id": conversation})
