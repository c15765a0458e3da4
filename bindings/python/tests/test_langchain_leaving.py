"""A stream that is abandoned in the middle, and the turn after it."""

import asyncio
from typing import Any

import langchain_openai
import openai
import pytest
from langchain_core.messages import AIMessage, HumanMessage

from antiphon.langchain import ChatOpenAI
from langchain_story import ECHO, FACT, MODEL, RECALL, assert_gone_on, echo
from provider import Provider, once_free

PLACES = ["in_reasoning", "in_arguments", "behind_call"]


def test_unwrapped_model_fails_after_abandoned_call(provider: Provider) -> None:
    conversation = provider.new_conversation()
    model = langchain_openai.ChatOpenAI(
        model=MODEL, use_responses_api=True, model_kwargs={"conversation": conversation}
    ).bind_tools([echo])

    provider.hold("behind_call")
    leave(model, ECHO, "behind_call")

    with pytest.raises(openai.BadRequestError, match="No tool output found for function call"):
        once_free(lambda: model.invoke(RECALL))


@pytest.mark.parametrize("on_abort", ["part", "whole", "nothing"])
@pytest.mark.parametrize("sends", ["this_turn", "all_turns"])
@pytest.mark.parametrize("place", PLACES)
def test_conversation_continues_after_abandoned_stream(
    provider: Provider, place: str, sends: str
) -> None:
    model = ChatOpenAI(model=MODEL, conversation=provider.new_conversation()).bind_tools([echo])
    past = [HumanMessage(FACT), model.invoke(FACT)]

    provider.hold(place)
    said = HumanMessage(ECHO)
    heard = leave(model, [*past, said] if sends == "all_turns" else ECHO, place)
    recall = HumanMessage(RECALL)
    answer = model.invoke([*past, said, heard, recall] if sends == "all_turns" else [recall])

    assert answer.text == "purple, Biscuit"
    assert_gone_on(provider)


@pytest.mark.parametrize("on_abort", ["part", "whole", "nothing"])
@pytest.mark.parametrize("place", PLACES)
def test_conversation_continues_after_abandoned_async_stream(
    provider: Provider, loop: asyncio.Runner, place: str
) -> None:
    model = ChatOpenAI(model=MODEL, conversation=provider.new_conversation()).bind_tools([echo])

    async def talk() -> AIMessage:
        await model.ainvoke(FACT)
        provider.hold(place)
        stream = model.astream(ECHO)
        async for piece in stream:
            if is_at(piece, place):
                break
        await stream.aclose()  # type: ignore[attr-defined]
        return await model.ainvoke(RECALL)

    assert loop.run(talk()).text == "purple, Biscuit"
    assert_gone_on(provider)


def leave(model: Any, messages: Any, place: str) -> AIMessage:
    """The pieces of a stream that was abandoned at a place."""
    stream = model.stream(messages)
    heard = next(stream)
    while not is_at(heard, place):
        heard += next(stream)
    stream.close()
    message: AIMessage = heard
    return message


def is_at(heard: Any, place: str) -> bool:
    if place == "in_reasoning":
        return "reasoning" in {block["type"] for block in heard.content}
    return any(chunk["args"] for chunk in heard.tool_call_chunks)
