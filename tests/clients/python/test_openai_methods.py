"""Every method that the openai library has for responses and conversations, in every form.

A test for each method; the last test asks the library which there are, so that one that a newer
library brings is missed here and not by its users.
"""

import asyncio
import json
from collections.abc import Callable
from typing import Any, Literal

import pytest
from openai import NotFoundError
from openai.types.conversations import (
    Conversation,
    ConversationDeletedResource,
    ConversationItemList,
    Message,
)
from openai.types.responses import (
    CompactedResponse,
    InputTokenCountResponse,
    ParsedResponse,
    Response,
    ResponseCompactionItem,
    ResponseCompletedEvent,
    ResponseCreatedEvent,
    ResponseInputMessageItem,
)
from pydantic import BaseModel as Shape

from context import Tenant
from dialogue import FACT, RECALL
from leaving import assert_recalled
from openai_api import FORMS, Api, methods_of, typed
from openai_delivery import async_client, blocking_client

MODEL = "fake-model"

Test = Callable[[Api, Tenant], None]

# The test of each method.
TESTS: dict[str, Test] = {}


def of(name: str) -> Callable[[Test], Test]:
    """Marks the test of a method."""

    def mark(test: Test) -> Test:
        assert name not in TESTS, name
        TESTS[name] = test
        return test

    return mark


def user(text: str) -> dict[str, str]:
    return {"type": "message", "role": "user", "content": text}


def fact(api: Api, **params: Any) -> Response:
    return typed(api("responses.create", model=MODEL, input=FACT, **params), Response)


@of("responses.create")
def create(api: Api, tenant: Tenant) -> None:
    first = fact(api, metadata={"of": "a test"}, instructions="Be brief.")
    assert (first.status, first.metadata) == ("completed", {"of": "a test"})

    stream = api(
        "responses.create", model=MODEL, input=RECALL, previous_response_id=first.id, stream=True
    )
    events = api.all(stream)

    for event in events:
        typed(event, type(event))
    assert isinstance(events[0], ResponseCreatedEvent)
    assert isinstance(events[-1], ResponseCompletedEvent)
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert_recalled(events[-1].response.output_text)


@of("responses.stream")
def stream(api: Api, tenant: Tenant) -> None:
    first = fact(api)
    helper = api.direct(
        "responses.stream", model=MODEL, input=RECALL, previous_response_id=first.id
    )
    final = typed(final_of(api, helper), Response)
    assert_recalled(final.output_text)

    # What runs in the background is followed by its id.
    running = fact(api, background=True)
    again = api.direct("responses.stream", response_id=running.id)
    assert final_of(api, again).id == running.id


def final_of(api: Api, helper: Any) -> Any:
    """The final response of a stream helper, whose events are read."""
    if api.blocks:
        with helper as events:
            assert list(events)
            return events.get_final_response()

    async def read() -> Any:
        async with helper as events:
            assert [event async for event in events]
            return await events.get_final_response()

    return api.run(read())


class Place(Shape):
    """What an answer is to look like."""

    name: str
    kind: Literal["city", "river"]


@of("responses.parse")
def parse(api: Api, tenant: Tenant) -> None:
    ask = {"model": "sim", "input": "Say something of Bonn.", "text_format": Place}
    parsed = api.direct("responses.parse", **ask)
    answer = api.awaited(parsed)
    assert isinstance(answer, ParsedResponse)
    assert isinstance(answer.output_parsed, Place)


@of("responses.retrieve")
def retrieve(api: Api, tenant: Tenant) -> None:
    first = fact(api, background=True)
    events = api.all(api("responses.retrieve", first.id, stream=True))
    assert events[-1].type == "response.completed"
    assert [event.sequence_number for event in events] == list(range(len(events)))

    rest = api.all(api("responses.retrieve", first.id, stream=True, starting_after=1))
    assert [event.to_dict() for event in rest] == [event.to_dict() for event in events[2:]]

    kept = typed(api("responses.retrieve", first.id), Response)
    assert kept.output_text == events[-1].response.output_text
    include = ["reasoning.encrypted_content"]
    shown = typed(api("responses.retrieve", first.id, include=include), Response)
    assert [item.id for item in shown.output] == [item.id for item in kept.output]


@of("responses.delete")
def delete(api: Api, tenant: Tenant) -> None:
    first = fact(api)
    assert api("responses.delete", first.id) is None
    with pytest.raises(NotFoundError):
        api("responses.retrieve", first.id)


@of("responses.cancel")
def cancel(api: Api, tenant: Tenant) -> None:
    tenant.stop_next_answer("in_text")
    running = fact(api, background=True)
    assert running.status in ("queued", "in_progress")
    assert typed(api("responses.cancel", running.id), Response).status == "cancelled"
    assert api("responses.retrieve", running.id).status == "cancelled"
    assert api("responses.cancel", running.id).status == "cancelled"


@of("responses.compact")
def compact(api: Api, tenant: Tenant) -> None:
    first = fact(api)
    compacted = api("responses.compact", model=MODEL, previous_response_id=first.id)
    assert isinstance(compacted, CompactedResponse)
    assert compacted.object == "response.compaction"
    typed(compacted.output[-1], ResponseCompactionItem)

    # The library has no type of its own for the user's messages in it.
    window = [item.to_dict(warnings=False) for item in compacted.output]
    recalled = api("responses.create", model=MODEL, input=[*window, user(RECALL)])
    assert_recalled(recalled.output_text)


@of("responses.input_items.list")
def list_input_items(api: Api, tenant: Tenant) -> None:
    said = ["one", "two", "three"]
    turn = api("responses.create", model=MODEL, input=[user(text) for text in said])

    page = api("responses.input_items.list", turn.id, order="asc", limit=2)
    assert [text_of(typed(item, ResponseInputMessageItem)) for item in page.data] == said[:2]
    assert page.has_next_page()
    everything = api.all(page)
    assert [text_of(item) for item in everything] == said

    newest_first = api.all(api("responses.input_items.list", turn.id))
    assert [text_of(item) for item in newest_first] == said[::-1]
    rest = api("responses.input_items.list", turn.id, order="asc", after=everything[1].id)
    assert [text_of(item) for item in rest.data] == said[2:]


def text_of(item: Any) -> str:
    return "".join(part.text for part in item.content)


@of("responses.input_tokens.count")
def count_input_tokens(api: Api, tenant: Tenant) -> None:
    def counted(**params: Any) -> int:
        count = api("responses.input_tokens.count", model=MODEL, **params)
        return typed(count, InputTokenCountResponse).input_tokens

    alone = counted(input=RECALL)
    assert alone > 0
    first = fact(api)
    assert counted(input=RECALL, previous_response_id=first.id) > alone
    tool = {"type": "function", "name": "echo", "strict": True, "parameters": {"type": "object"}}
    assert counted(input=RECALL, tools=[tool], instructions="Be brief.") > alone
    assert typed(api("responses.input_tokens.count", input=RECALL), InputTokenCountResponse)


@of("responses.connect")
def connect(api: Api, tenant: Tenant) -> None:
    manager = api.direct("responses.connect")
    first, second = talked_blocking(manager) if api.blocks else api.run(talked(manager))
    assert isinstance(first, Response)
    assert_recalled(second.output_text)
    assert api("responses.retrieve", second.id).previous_response_id == first.id


def talked_blocking(manager: Any) -> list[Any]:
    with manager as connection:
        said: list[Any] = []
        for params in (lambda: {"input": FACT}, lambda: after(said[0])):
            connection.response.create(model=MODEL, **params())
            said.append(next(event for event in connection if is_over(event)).response)
        return said


async def talked(manager: Any) -> list[Any]:
    async with manager as connection:
        said: list[Any] = []
        for params in (lambda: {"input": FACT}, lambda: after(said[0])):
            await connection.response.create(model=MODEL, **params())
            async for event in connection:
                if is_over(event):
                    said.append(event.response)
                    break
        return said


def after(response: Any) -> dict[str, str]:
    return {"input": RECALL, "previous_response_id": response.id}


def is_over(event: Any) -> bool:
    assert event.type not in ("error", "response.failed"), event
    return event.type == "response.completed"


def new_conversation(api: Api, *said: str) -> Conversation:
    items = [user(text) for text in said]
    conversation = api("conversations.create", items=items, metadata={"of": "a test"})
    return typed(conversation, Conversation)


@of("conversations.create")
def create_conversation(api: Api, tenant: Tenant) -> None:
    conversation = new_conversation(api, FACT)
    assert conversation.metadata == {"of": "a test"}
    turn = api("responses.create", model=MODEL, input=RECALL, conversation=conversation.id)
    assert_recalled(typed(turn, Response).output_text)
    assert turn.conversation.id == conversation.id


@of("conversations.retrieve")
def retrieve_conversation(api: Api, tenant: Tenant) -> None:
    conversation = new_conversation(api)
    kept = typed(api("conversations.retrieve", conversation.id), Conversation)
    assert kept.to_dict() == conversation.to_dict()


@of("conversations.update")
def update_conversation(api: Api, tenant: Tenant) -> None:
    conversation = new_conversation(api)
    told = {"topic": "dogs"}
    updated = api("conversations.update", conversation.id, metadata=told)
    assert typed(updated, Conversation).metadata == told
    assert api("conversations.retrieve", conversation.id).metadata == told


@of("conversations.delete")
def delete_conversation(api: Api, tenant: Tenant) -> None:
    conversation = new_conversation(api)
    gone = api("conversations.delete", conversation.id)
    assert typed(gone, ConversationDeletedResource).deleted
    with pytest.raises(NotFoundError):
        api("conversations.retrieve", conversation.id)


@of("conversations.items.create")
def create_items(api: Api, tenant: Tenant) -> None:
    conversation = new_conversation(api)
    call = {"type": "function_call", "call_id": "call_1", "name": "echo", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "call_1", "output": "hello"}
    items = [user(FACT), call, output]
    added = api("conversations.items.create", conversation.id, items=items)
    assert isinstance(added, ConversationItemList)
    assert [item.type for item in added.data] == [item["type"] for item in items]
    for item in added.data:
        typed(item, type(item))
    assert json.loads(added.data[1].arguments) == {}


@of("conversations.items.list")
def list_items(api: Api, tenant: Tenant) -> None:
    said = ["one", "two", "three"]
    conversation = new_conversation(api, *said)

    page = api("conversations.items.list", conversation.id, order="asc", limit=2)
    assert [text_of(typed(item, Message)) for item in page.data] == said[:2]
    assert page.has_next_page()
    everything = api.all(page)
    assert [text_of(item) for item in everything] == said

    newest_first = api.all(api("conversations.items.list", conversation.id))
    assert [text_of(item) for item in newest_first] == said[::-1]
    second = everything[1].id
    rest = api("conversations.items.list", conversation.id, order="asc", after=second)
    assert [text_of(item) for item in rest.data] == said[2:]


@of("conversations.items.retrieve")
def retrieve_item(api: Api, tenant: Tenant) -> None:
    conversation = new_conversation(api, FACT)
    held = api("conversations.items.list", conversation.id).data[0]
    where = {"conversation_id": conversation.id}
    item = typed(api("conversations.items.retrieve", held.id, **where), Message)
    assert item.to_dict() == held.to_dict()


@of("conversations.items.delete")
def delete_item(api: Api, tenant: Tenant) -> None:
    conversation = new_conversation(api, FACT, "And my city is Bonn")
    newest, oldest = api("conversations.items.list", conversation.id).data
    where = {"conversation_id": conversation.id}
    left = api("conversations.items.delete", oldest.id, **where)
    assert typed(left, Conversation).id == conversation.id
    with pytest.raises(NotFoundError):
        api("conversations.items.retrieve", oldest.id, **where)
    kept = api("conversations.items.list", conversation.id).data
    assert [item.id for item in kept] == [newest.id]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", TESTS)
def test_method(tenant: Tenant, loop: asyncio.Runner, name: str, form: str) -> None:
    blocks, calls = FORMS[form]
    client = blocking_client(tenant) if blocks else async_client(tenant)
    api = Api(client, loop, calls)
    TESTS[name](api, tenant)
    assert name in api.called


@pytest.mark.parametrize("client", [blocking_client, async_client])
def test_no_method_of_the_library_is_missed(tenant: Tenant, client: Callable[..., Any]) -> None:
    assert methods_of(client(tenant)) == set(TESTS)
