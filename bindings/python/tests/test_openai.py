"""`antiphon.openai.stateful` with a provider that stores the conversation."""

import logging
from typing import Any

import antiphon.openai
import pytest
from antiphon.openai import stateful
from openai import BadRequestError, OpenAI
from provider import Provider
from pydantic import BaseModel
from speaking import ECHO, Speaker, output_of, replayed, speaker, user

__all__ = ["speaker"]


def call_of(provider: Provider, speaker: Speaker) -> tuple[str, Any]:
    """A conversation with a call without an output."""
    conversation = provider.new_conversation()
    called = speaker.create(conversation=conversation, input="Echo hello", tools=[ECHO])
    return conversation, called


def test_unwrapped_client_resends_and_is_rejected(provider: Provider) -> None:
    client = OpenAI(max_retries=0)
    conversation = provider.new_conversation()
    first = client.responses.create(model="sim", conversation=conversation, input="My color is red")
    history: Any = [user("My color is red"), *replayed(first), user("Which color?")]
    with pytest.raises(BadRequestError, match="Duplicate item found with id"):
        client.responses.create(model="sim", conversation=conversation, input=history)


def test_resent_history_is_left_out(provider: Provider, speaker: Speaker) -> None:
    conversation = provider.new_conversation()
    first = speaker.create(conversation=conversation, input="My color is red")
    history = [user("My color is red"), *replayed(first), user("What is my color?")]

    answer = speaker.raw(conversation=conversation, input=history)

    assert answer.parse().output_text == "red"
    assert answer.headers["antiphon-resent"] == str(len(history) - 1)
    assert provider.sent()[-1] == [user("What is my color?")]
    assert not provider.refusals() and not provider.twice()


@pytest.mark.parametrize("way", ["create", "stream", "parse", "events"])
def test_a_run_with_a_tool_passes_every_way(
    provider: Provider, speaker: Speaker, way: str
) -> None:
    conversation = provider.new_conversation()
    history = [user("Echo hello")]
    called = speaker.create(conversation=conversation, input=history, tools=[ECHO])
    history += [*replayed(called), *output_of(called)]

    getattr(speaker, way)(conversation=conversation, input=history, tools=[ECHO])

    assert [item["type"] for item in provider.sent()[-1]] == ["function_call_output"]
    assert not provider.refusals() and not provider.twice()


def test_resent_chain_is_left_out(provider: Provider, speaker: Speaker) -> None:
    first = speaker.create(input="My color is red")
    history = [user("My color is red"), *replayed(first), user("What is my color?")]

    answer = speaker.create(previous_response_id=first.id, input=history)

    assert answer.output_text == "red"
    assert provider.sent()[-1] == [user("What is my color?")]


def test_unanswered_call_gets_a_reported_placeholder(
    provider: Provider, speaker: Speaker, caplog: pytest.LogCaptureFixture
) -> None:
    conversation, _ = call_of(provider, speaker)
    with caplog.at_level(logging.INFO, logger="antiphon"):
        answer = speaker.raw(conversation=conversation, input="Are you there?", tools=[ECHO])

    assert answer.headers["antiphon-repairs"] == "unanswered_call=1"
    assert any("unanswered_call" in record.message for record in caplog.records)
    assert not any("Are you there" in record.message for record in caplog.records)
    assert not provider.refusals()


def test_added_items_are_listed_before_the_next_turn(
    provider: Provider, speaker: Speaker
) -> None:
    conversation = provider.new_conversation()
    speaker.create(conversation=conversation, input="My color is red")
    added = speaker.awaited(
        speaker.client.conversations.items.create(conversation, items=[user("My dog is Rex")])
    )

    history = [added.data[0].model_dump(mode="json"), user("What is my color and dog name?")]
    speaker.create(conversation=conversation, input=history)

    assert provider.sent()[-1] == [user("What is my color and dog name?")]
    assert not provider.refusals()


def test_a_turn_in_the_background_passes(provider: Provider, speaker: Speaker) -> None:
    conversation = provider.new_conversation()
    begun = speaker.create(conversation=conversation, input="My color is red", background=True)
    while begun.status in ("queued", "in_progress"):
        begun = speaker.awaited(speaker.client.responses.retrieve(begun.id))
    history = [user("My color is red"), *replayed(begun), user("What is my color?")]

    answer = speaker.create(conversation=conversation, input=history)

    assert answer.output_text == "red"
    assert not provider.refusals() and not provider.twice()


def test_structured_output_is_parsed(provider: Provider, speaker: Speaker) -> None:
    class Color(BaseModel):
        name: str

    with pytest.raises(ValueError, match="Color"):
        speaker.parse(input="My color is red", text_format=Color)
    assert not provider.refusals()


def test_outputs_are_delivered_without_a_turn(provider: Provider, speaker: Speaker) -> None:
    conversation, called = call_of(provider, speaker)
    stray = {"type": "function_call_output", "call_id": "call_nobody_made", "output": "?"}

    assert speaker.deliver(conversation, [*output_of(called), stray]) == 1
    assert speaker.deliver(conversation, output_of(called)) == 0
    assert speaker.deliver(conversation, []) == 0

    assert provider.items(conversation)[-1]["type"] == "function_call_output"
    assert not provider.refusals()
    assert len(provider.requests()) == 1


def test_more_outputs_than_a_request_takes_are_delivered(
    provider: Provider, speaker: Speaker
) -> None:
    calls = [
        {"type": "function_call", "call_id": f"call_{n}", "name": "echo", "arguments": "{}"}
        for n in range(45)
    ]
    conversation = provider.new_conversation(calls[:20])
    for start in (20, 40):
        speaker.awaited(
            speaker.client.conversations.items.create(
                conversation, items=calls[start : start + 20]  # type: ignore[arg-type]
            )
        )
    outputs = [
        {"type": "function_call_output", "call_id": call["call_id"], "output": "hello"}
        for call in calls
    ]
    assert speaker.deliver(conversation, outputs) == 45
    assert not provider.refusals()


def test_answer_is_read_line_by_line(provider: Provider) -> None:
    client = stateful(OpenAI(max_retries=0))
    conversation = provider.new_conversation()
    request: Any = {"model": "sim", "conversation": conversation}
    streaming = client.responses.with_streaming_response.create
    with streaming(**request, input="My color is red", stream=True) as answer:
        assert answer.headers["antiphon-resent"] == "0"
        lines = list(answer.iter_lines())

    client.responses.create(**request, input="What is my color?")

    assert lines[0] == "event: response.created"
    assert len(provider.log()) == 4, "asked once: the stream told the rest"


def test_a_refusal_reaches_its_caller_as_it_came(provider: Provider, speaker: Speaker) -> None:
    with pytest.raises(BadRequestError, match="does not exist"):
        speaker.create(model="unknown-model", input="Hello")
    assert len(provider.log()) == 1


def test_copies_and_further_clients_share_state(
    provider: Provider, speaker: Speaker
) -> None:
    conversation = provider.new_conversation()
    first = speaker.create(conversation=conversation, input="My color is red")
    further = stateful(speaker.given).with_options(timeout=60)
    asked = len(provider.log())

    history = [user("My color is red"), *replayed(first), user("What is my color?")]
    request: Any = {"model": "sim", "conversation": conversation, "input": history}
    speaker.awaited(further.responses.create(**request))

    assert len(provider.log()) == asked + 1, "nothing had to be asked for"
    assert not provider.refusals()


def test_whole_is_an_alias_of_stateful() -> None:
    assert antiphon.openai.whole is stateful
    assert {"stateful", "whole"} <= set(antiphon.openai.__all__)
