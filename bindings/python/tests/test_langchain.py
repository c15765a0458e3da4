"""Three turns in a conversation with `ChatOpenAI` and a hand-written tool loop."""

import asyncio

import langchain_openai
import openai
import pytest
from langchain_core.messages import HumanMessage

from antiphon.langchain import ChatOpenAI
from langchain_story import (
    DELIVERIES,
    ECHO,
    FACT,
    MODEL,
    RECALL,
    Messages,
    assert_dialogue_is_complete,
    echo,
    hold_dialogue,
    kinds,
    turn,
)
from provider import Provider


@pytest.mark.parametrize("delivery", DELIVERIES)
def test_unwrapped_model_breaks_after_a_tool(
    provider: Provider, loop: asyncio.Runner, delivery: str
) -> None:
    model = langchain_openai.ChatOpenAI(
        model=MODEL,
        use_responses_api=True,
        model_kwargs={"conversation": provider.new_conversation()},
    )
    answer = DELIVERIES[delivery](model.bind_tools([echo]), loop)
    turn(answer, [], FACT)

    with pytest.raises(openai.BadRequestError, match=r"Duplicate item found with id (fc|rs)_"):
        turn(answer, [], ECHO)
    with pytest.raises(openai.BadRequestError, match="No tool output found for function call"):
        turn(answer, [], RECALL)


@pytest.mark.parametrize("calls", [1, 2])
@pytest.mark.parametrize("sends", ["this_turn", "all_turns"])
@pytest.mark.parametrize("delivery", DELIVERIES)
def test_three_turns(
    provider: Provider, loop: asyncio.Runner, delivery: str, sends: str, calls: int
) -> None:
    conversation = provider.new_conversation()
    model = ChatOpenAI(model=MODEL, conversation=conversation).bind_tools([echo])
    answer = DELIVERIES[delivery](model, loop)
    messages: Messages = []

    def ask(text: str) -> str:
        if sends == "this_turn":
            messages.clear()
        return turn(answer, messages, text)

    hold_dialogue(ask, calls)

    assert_dialogue_is_complete(provider, conversation, calls)


@pytest.mark.parametrize("version", ["v0", "v1", "responses/v1"])
@pytest.mark.parametrize("delivery", DELIVERIES)
def test_messages_of_every_form(
    provider: Provider, loop: asyncio.Runner, delivery: str, version: str
) -> None:
    """`output_version` determines the form in which LangChain stores and resends an answer."""
    conversation = provider.new_conversation()
    model = ChatOpenAI(model=MODEL, conversation=conversation, output_version=version)
    answer = DELIVERIES[delivery](model.bind_tools([echo]), loop)
    messages: Messages = []

    hold_dialogue(lambda text: turn(answer, messages, text))

    assert_dialogue_is_complete(provider, conversation)


def test_another_process_continues_with_full_history(provider: Provider) -> None:
    conversation = provider.new_conversation()
    messages: Messages = []

    def ask(text: str) -> str:
        http_client = openai.DefaultHttpxClient()
        model = ChatOpenAI(model=MODEL, conversation=conversation, http_client=http_client)
        return turn(model.bind_tools([echo]).invoke, messages, text)

    hold_dialogue(ask)

    assert_dialogue_is_complete(provider, conversation)


def test_requests_stay_small_in_long_conversations(provider: Provider) -> None:
    model = ChatOpenAI(model=MODEL, conversation=provider.new_conversation())
    messages: Messages = []

    for number in range(10, 20):
        turn(model.invoke, messages, f"My lucky number is {number}")

    assert [len(sent) for sent in provider.sent()] == [1] * 10
    assert [len(given) for given in provider.turns()] == [*range(1, 20, 2)]


@pytest.mark.parametrize("delivery", ["batch", "abatch"])
def test_a_batch_of_conversations(provider: Provider, loop: asyncio.Runner, delivery: str) -> None:
    """Each input has its own conversation."""
    conversations = [provider.new_conversation() for _ in range(3)]
    models = [ChatOpenAI(model=MODEL, conversation=each) for each in conversations]
    for model in models:
        DELIVERIES[delivery](model, loop)([HumanMessage(FACT)])
    for model in models:
        answer = DELIVERIES[delivery](model, loop)([HumanMessage(RECALL)])
        assert answer.text == "purple, Biscuit"

    assert provider.twice() == provider.refusals() == []


def test_batch_in_one_conversation_runs_sequentially(
    provider: Provider, loop: asyncio.Runner
) -> None:
    """The provider locks a conversation during a turn."""
    conversation = provider.new_conversation()
    model = ChatOpenAI(model=MODEL, conversation=conversation)

    model.batch(["one", "two", "three"])
    loop.run(model.abatch(["four", "five", "six"]))

    assert kinds(provider.items(conversation)) == ["user", "assistant"] * 6
    assert provider.twice() == []


@pytest.mark.parametrize("delivery", DELIVERIES)
def test_chains_of_responses(provider: Provider, loop: asyncio.Runner, delivery: str) -> None:
    model = ChatOpenAI(model=MODEL, use_previous_response_id=True).bind_tools([echo])
    answer = DELIVERIES[delivery](model, loop)
    messages: Messages = []

    hold_dialogue(lambda text: turn(answer, messages, text))

    assert provider.twice() == provider.refusals() == []
