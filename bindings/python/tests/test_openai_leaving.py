"""`antiphon.openai.stateful` with interrupted, rejected and retried turns.

A provider notices a disconnect only after some time. Until then it rejects requests, and the client
retries them. The tests only assert that the next turn has its answer.
"""

import asyncio
import gc
from typing import Any

import httpx2
import pytest
from antiphon.openai import stateful
from openai import AsyncOpenAI, OpenAI
from provider import Provider
from speaking import ECHO, SPEAKERS, Speaker, speaker, user

__all__ = ["speaker"]


@pytest.mark.parametrize("on_abort", ["part", "whole", "nothing"])
@pytest.mark.parametrize(
    ("place", "until"),
    [
        ("in_reasoning", "response.created"),
        ("in_arguments", "response.output_item.done"),
        ("behind_call", "response.function_call_arguments.done"),
    ],
)
def test_conversation_continues_after_abandoned_turn(
    provider: Provider, speaker: Speaker, place: str, until: str
) -> None:
    conversation = provider.new_conversation()
    provider.hold(place)
    speaker.events(until, conversation=conversation, input="Echo hello", tools=[ECHO])

    answer = speaker.create(conversation=conversation, input="My color is red")

    assert answer.output_text == "Noted."
    assert not provider.twice()


def test_conversation_continues_after_collected_stream(provider: Provider) -> None:
    conversation = provider.new_conversation()
    provider.hold("behind_call")
    client = stateful(OpenAI(max_retries=0))
    request: Any = {"model": "sim", "conversation": conversation, "tools": [ECHO]}
    stream = client.responses.create(**request, input="Echo hello", stream=True)
    assert next(iter(stream)).type == "response.created"
    del stream
    gc.collect()

    answer = client.responses.create(**request, input="My color is red")

    assert answer.output_text == "Noted."
    assert not provider.twice()


def test_conversation_continues_after_cancelled_turn(provider: Provider) -> None:
    async def scenario() -> None:
        client = stateful(AsyncOpenAI(max_retries=0))
        request: Any = {"model": "sim", "conversation": conversation, "tools": [ECHO]}
        turn = client.responses.create(**request, input="Echo hello", stream=True)
        begun = asyncio.create_task(turn)
        while not await asyncio.to_thread(provider.requests):
            await asyncio.sleep(0)
        begun.cancel()
        with pytest.raises(asyncio.CancelledError):
            await begun
        answer = await client.responses.create(**request, input="My color is red")
        assert answer.output_text == "Noted."
        await client.close()

    conversation = provider.new_conversation()
    provider.hold("head")
    asyncio.run(scenario())
    assert not provider.twice()


@pytest.mark.parametrize("kind", SPEAKERS)
def test_rejection_resyncs_over_one_connection(
    provider: Provider, kind: str
) -> None:
    library = {"sync": httpx2.Client, "async": httpx2.AsyncClient}[kind]
    only_one: Any = library(limits=httpx2.Limits(max_connections=1), timeout=5)
    speaker = Speaker(SPEAKERS[kind](max_retries=0, http_client=only_one))
    conversation = provider.new_conversation()
    speaker.create(conversation=conversation, input="My color is red")
    with OpenAI() as unseen:
        unseen.responses.create(
            model="sim", conversation=conversation, input="Echo hello", tools=[ECHO]
        )

    answer = speaker.raw(conversation=conversation, input="What is my color?")

    assert answer.headers["antiphon-relearned"] == "true"
    assert answer.parse().output_text == "red"
    assert provider.refusals()[0].startswith("No tool output found for function call")
    speaker.close()


@pytest.mark.parametrize("script", [[{"status": 503, "body": {"error": {"message": "Busy"}}}]])
def test_sdk_retry_is_planned_again(
    provider: Provider, speaker: Speaker
) -> None:
    conversation = provider.new_conversation([user("My color is red")])
    again = speaker.client.with_options(max_retries=1)
    request: Any = {"model": "sim", "conversation": conversation, "input": "What is my color?"}

    answer = speaker.awaited(again.responses.create(**request))

    assert answer.output_text == "red"
    assert [entry["status"] for entry in provider.requests()] == [503, 200]
    assert not provider.twice()
