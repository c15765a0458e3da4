"""`ChatOpenAI` as a LangChain model: its field, its copies, its errors."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import langchain_openai
import openai
import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.load import dumps, loads
from langchain_core.runnables import ConfigurableField
from pydantic import BaseModel

from antiphon.langchain import BoundChatOpenAI, ChatOpenAI
from langchain_story import FACT, MODEL, RECALL, echo, join_pieces
from provider import Provider

CONVERSATION = "conv_1"


def payload(model: ChatOpenAI, **options: Any) -> dict[str, Any]:
    return model._get_request_payload("Hello", **options)


@pytest.mark.parametrize("given", [CONVERSATION, {"id": CONVERSATION}])
def test_conversation_field_implies_the_responses_api(
    provider: Provider, given: Any
) -> None:
    model = ChatOpenAI(model=MODEL, conversation=given)

    assert model.conversation == CONVERSATION
    assert model.use_responses_api is True
    assert payload(model)["conversation"] == CONVERSATION
    assert "input" in payload(model)
    assert model._get_invocation_params()["conversation"] == CONVERSATION


def test_without_conversation_it_equals_its_base_class(provider: Provider) -> None:
    model = ChatOpenAI(model=MODEL)
    parent = langchain_openai.ChatOpenAI(model=MODEL)

    assert isinstance(model, langchain_openai.ChatOpenAI)
    assert payload(model) == parent._get_request_payload("Hello")
    assert "messages" in payload(model)
    assert (model.use_responses_api, model.stream_usage) == (None, parent.stream_usage)


def test_model_kwargs_may_name_the_conversation(provider: Provider) -> None:
    keywords = {"conversation": {"id": CONVERSATION}, "parallel_tool_calls": False}
    model = ChatOpenAI(model=MODEL, model_kwargs=keywords)

    assert model.conversation == CONVERSATION
    assert model.model_kwargs == {"parallel_tool_calls": False}
    assert payload(model)["conversation"] == CONVERSATION


def test_a_call_may_name_the_conversation(provider: Provider) -> None:
    model = ChatOpenAI(model=MODEL)
    one, other = provider.new_conversation(), provider.new_conversation()

    model.bind(conversation=one).invoke(FACT)
    assert model.invoke(RECALL, conversation={"id": one}).text == "purple, Biscuit"
    assert model.invoke(RECALL, conversation=other).text == "I do not know."

    assert payload(ChatOpenAI(model=MODEL, conversation=one), conversation=None).keys() >= {"input"}
    assert "conversation" not in payload(model, conversation=None)


def test_later_bindings_keep_the_conversation(provider: Provider) -> None:
    conversation = provider.new_conversation()
    bound = ChatOpenAI(model=MODEL).bind(conversation={"id": conversation}, temperature=0.5)

    bound.bind_tools([echo]).invoke(FACT)
    bound.bind(top_p=0.5).invoke(RECALL)

    requests = [entry["body"] for entry in provider.requests()]
    assert [request["conversation"] for request in requests] == [conversation] * 2
    assert [(r.get("tools") is None, r.get("temperature")) for r in requests] == [
        (False, None),
        (True, 0.5),
    ]
    with pytest.raises(ValueError, match="remove use_previous_response_id"):
        ChatOpenAI(model=MODEL, use_previous_response_id=True).bind(conversation=CONVERSATION)


RAW_CALLS: dict[str, Any] = {"method": "function_calling", "include_raw": True}

# Each binds the conversation before something else that LangChain binds.
ORDERS: dict[str, Callable[[Any, str], Any]] = {
    "bind_tools": lambda model, it: model.bind(conversation=it).bind_tools([echo]),
    "options_first": lambda model, it: (
        model.bind(temperature=0.5).bind(conversation=it).bind_tools([echo])
    ),
    "between_tools": lambda model, it: (
        model.bind_tools([]).bind(conversation=it).bind_tools([echo])
    ),
    "config_first": lambda model, it: (
        model.with_config(tags=["one"]).bind(conversation=it).bind_tools([echo])
    ),
    "config": lambda model, it: (
        model.bind(conversation=it).with_config(tags=["one"]).bind_tools([echo])
    ),
    "structured": lambda model, it: (
        model.bind(conversation=it).with_structured_output(Pet, **RAW_CALLS)
    ),
}

# The order in which LangChain itself keeps it.
TOOLS_FIRST: Callable[[Any, str], Any] = (
    lambda model, it: model.bind_tools([echo]).bind(conversation=it)
)


class Pet(BaseModel):
    """A pet."""

    name: str


def conversations(provider: Provider) -> list[str | None]:
    """The conversation that each turn named."""
    return [entry["body"].get("conversation") for entry in provider.requests()]


@pytest.mark.parametrize("order", ORDERS)
def test_every_order_keeps_the_conversation(provider: Provider, order: str) -> None:
    conversation = provider.new_conversation()

    ORDERS[order](ChatOpenAI(model=MODEL), conversation).invoke(FACT)
    TOOLS_FIRST(ChatOpenAI(model=MODEL), conversation).invoke(RECALL)

    assert conversations(provider) == [conversation] * 2


@pytest.mark.parametrize("order", ORDERS)
def test_unwrapped_model_loses_a_bound_conversation(provider: Provider, order: str) -> None:
    """LangChain reports nothing, and the model knows nothing of the conversation."""
    model = langchain_openai.ChatOpenAI(model=MODEL, use_responses_api=True)
    conversation = provider.new_conversation()

    TOOLS_FIRST(model, conversation).invoke(FACT)
    ORDERS[order](model, conversation).invoke(RECALL)

    assert conversations(provider) == [conversation, None]
    assert provider.refusals() == []


def test_bound_model_is_dumped_and_loaded_as_itself(provider: Provider) -> None:
    model = ChatOpenAI(model=MODEL, api_key="sk-tests")  # type: ignore[arg-type]
    bound = model.bind(conversation=CONVERSATION, temperature=0.5)

    loaded = loads(
        dumps(bound),
        secrets_map={"OPENAI_API_KEY": "sk-tests"},
        valid_namespaces=["antiphon"],
        allowed_objects=[ChatOpenAI, BoundChatOpenAI],
    )

    assert type(loaded) is BoundChatOpenAI
    assert loaded.kwargs == {"temperature": 0.5}
    assert loaded.bound.conversation == CONVERSATION


def test_repeated_question_is_answered_twice(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LangChain's cache key contains only the messages."""
    monkeypatch.setattr("langchain_core.globals._llm_cache", InMemoryCache())
    model = ChatOpenAI(model=MODEL, conversation=provider.new_conversation())

    for each in (model, model, ChatOpenAI(model=MODEL).bind(conversation=model.conversation)):
        each.invoke("yes")

    assert len(provider.requests()) == 3


def test_a_run_may_name_the_conversation(provider: Provider) -> None:
    conversation = ConfigurableField(id="conversation")
    model = ChatOpenAI(model=MODEL).configurable_fields(conversation=conversation)
    in_one = {"configurable": {"conversation": provider.new_conversation()}}

    model.invoke(FACT, in_one)  # type: ignore[arg-type]
    past = model.with_config(in_one)  # type: ignore[arg-type]

    assert past.invoke([("user", FACT), ("assistant", "Noted."), ("user", RECALL)]).text == (
        "purple, Biscuit"
    )
    assert [len(sent) for sent in provider.sent()] == [1, 1]


def test_copy_shares_the_originals_state(provider: Provider) -> None:
    model = ChatOpenAI(model=MODEL, conversation=provider.new_conversation())
    model.invoke(FACT)
    asked = len(provider.log())

    copy = model.model_copy(update={"temperature": 0.5})

    assert copy.invoke(RECALL).text == "purple, Biscuit"
    assert len(provider.log()) == asked + 1


def test_given_clients_are_used(provider: Provider) -> None:
    seen: list[str] = []
    hooks = {"request": [lambda request: seen.append(request.url.path)]}
    with openai.DefaultHttpxClient(event_hooks=hooks) as http_client:
        conversation = provider.new_conversation()
        model = ChatOpenAI(model=MODEL, conversation=conversation, http_client=http_client)
        model.invoke(FACT)

    assert "/v1/responses" in seen
    assert model.http_client is http_client


def test_given_async_clients_are_used(provider: Provider, loop: asyncio.Runner) -> None:
    seen: list[str] = []

    async def see(request: Any) -> None:
        seen.append(request.url.path)

    async def talk() -> None:
        async with openai.DefaultAsyncHttpxClient(event_hooks={"request": [see]}) as client:
            conversation = provider.new_conversation()
            model = ChatOpenAI(model=MODEL, conversation=conversation, http_async_client=client)
            await model.ainvoke(FACT)

    loop.run(talk())

    assert "/v1/responses" in seen


def test_chat_completions_use_the_same_client(provider: Provider) -> None:
    model = ChatOpenAI(model=MODEL)

    assert model.client is model.root_client.chat.completions
    assert model.async_client is model.root_async_client.chat.completions


def test_a_client_that_the_caller_gives_stays(provider: Provider) -> None:
    client, async_client = object(), object()
    model = ChatOpenAI(model=MODEL, client=client, async_client=async_client)

    assert (model.client, model.async_client) == (client, async_client)
    assert (model.root_client, model.root_async_client) == (None, None)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"use_previous_response_id": True}, "remove use_previous_response_id"),
        ({"use_responses_api": False}, "needs the Responses API"),
    ],
)
def test_second_state_source_is_rejected(
    provider: Provider, options: dict[str, Any], what: str
) -> None:
    with pytest.raises(ValueError, match=what):
        ChatOpenAI(model=MODEL, conversation=CONVERSATION, **options)
    with pytest.raises(ValueError, match=what):
        ChatOpenAI(model=MODEL, **options).invoke("Hello", conversation=CONVERSATION)
    assert provider.log() == []


def test_chain_with_a_conversation_is_rejected(provider: Provider) -> None:
    model = ChatOpenAI(model=MODEL, conversation=CONVERSATION)

    with pytest.raises(ValueError, match="already provides the state: remove previous_response_id"):
        model.invoke("Hello", previous_response_id="resp_1")
    assert provider.log() == []


@pytest.mark.parametrize("streams", [False, True])
def test_repairs_are_reported(
    provider: Provider, caplog: pytest.LogCaptureFixture, streams: bool
) -> None:
    caplog.set_level(logging.INFO, "antiphon")
    conversation = provider.new_conversation()
    model = ChatOpenAI(model=MODEL, conversation=conversation, include_response_headers=True)
    noted = model.invoke(FACT)
    reasoning = {"type": "reasoning", "id": "rs_0123456789abcdef", "summary": []}

    past: Any = [("user", FACT), noted, ("assistant", [reasoning]), ("user", RECALL)]
    message = join_pieces(model.stream(past)) if streams else model.invoke(past)
    headers = message.response_metadata["headers"]

    assert headers["antiphon-resent"] == "2"
    assert headers["antiphon-repairs"] == "lone_reasoning=1"
    assert "lone_reasoning" in caplog.text
    assert "purple" not in caplog.text


def test_it_is_dumped_and_loaded_as_itself(provider: Provider) -> None:
    model = ChatOpenAI(model=MODEL, conversation=CONVERSATION, api_key="sk-tests")  # type: ignore[arg-type]

    loaded = loads(
        dumps(model),
        secrets_map={"OPENAI_API_KEY": "sk-tests"},
        valid_namespaces=["antiphon"],
        allowed_objects=[ChatOpenAI],
    )

    assert type(loaded) is ChatOpenAI
    assert loaded.conversation == CONVERSATION
