"""Agent Framework with a conversation that the server stores, and replayed histories."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from agent_framework import (
    Agent,
    AgentExecutor,
    AgentResponse,
    AgentSession,
    HistoryProvider,
    InMemoryHistoryProvider,
    Message,
    WorkflowBuilder,
    tool,
)
from agent_framework.exceptions import ChatClientException
from agent_framework_openai import OpenAIChatClient as PlainChatClient
from openai import AsyncOpenAI

from antiphon.agent_framework import OpenAIChatClient, stateful
from provider import Item, Provider, once_free_again

FACT = "My color is purple, dog is Biscuit"
ECHO = "Echo hello"
RECALL = "What is my color and dog name?"
THANKS = "Thanks"
SAID = [FACT, ECHO, RECALL, THANKS]

Delivery = Callable[[Agent, str, AgentSession], Awaitable[AgentResponse]]
Client = PlainChatClient[Any]


class OutsideHistory(HistoryProvider):
    """A history provider that stores messages outside the session, like Redis."""

    def __init__(self) -> None:
        super().__init__("outside")
        self._kept: dict[str | None, list[Message]] = {}

    async def get_messages(
        self, session_id: str | None, *, state: dict[str, Any] | None = None, **_: Any
    ) -> list[Message]:
        return list(self._kept.get(session_id, []))

    async def save_messages(
        self,
        session_id: str | None,
        messages: Sequence[Message],
        *,
        state: dict[str, Any] | None = None,
        **_: Any,
    ) -> None:
        self._kept.setdefault(session_id, []).extend(messages)


HISTORIES = {"in_memory": InMemoryHistoryProvider, "outside": OutsideHistory}


@tool(name="echo", approval_mode="never_require")
def echo(text: str) -> str:
    """Returns the text."""
    return text


@tool(name="echo", approval_mode="always_require")
def echo_if_approved(text: str) -> str:
    """Returns the text."""
    return text


async def run(agent: Agent, text: str, session: AgentSession) -> AgentResponse:
    return await agent.run(text, session=session)


async def run_streamed(agent: Agent, text: str, session: AgentSession) -> AgentResponse:
    stream = agent.run(text, session=session, stream=True)
    async for _ in stream:
        pass
    return await stream.get_final_response()


def plain_client() -> Client:
    return PlainChatClient("fake-model", async_client=AsyncOpenAI(max_retries=0))


def stateful_client() -> Client:
    return OpenAIChatClient("fake-model", async_client=AsyncOpenAI(max_retries=0))


def session_of(agent: Agent, provider: Provider, owner: str) -> AgentSession:
    """A session that continues a conversation, or a chain of responses."""
    if owner == "conversation":
        return agent.get_session(provider.new_conversation())
    return agent.create_session()


OWNERS = ["conversation", "chain"]
DELIVERIES = pytest.mark.parametrize("delivery", [run, run_streamed])


async def replayed(
    provider: Provider,
    client: Client,
    owner: str,
    history: str,
    delivery: Delivery,
    said: list[str],
) -> list[str]:
    """Answers of an agent that has a history provider and a server with state."""
    agent = Agent(client=client, tools=[echo], context_providers=[HISTORIES[history]()])
    session = session_of(agent, provider, owner)
    return [(await delivery(agent, text, session)).text for text in said]


@DELIVERIES
@pytest.mark.parametrize("history", HISTORIES)
@pytest.mark.parametrize("owner", OWNERS)
def test_replayed_outputs_are_refused(
    provider: Provider, owner: str, history: str, delivery: Delivery
) -> None:
    with pytest.raises(ChatClientException, match="Duplicate function call output found"):
        asyncio.run(replayed(provider, plain_client(), owner, history, delivery, SAID))


@DELIVERIES
@pytest.mark.parametrize("owner", OWNERS)
def test_replayed_messages_are_read_twice(
    provider: Provider, owner: str, delivery: Delivery
) -> None:
    said = [FACT, RECALL]

    asyncio.run(replayed(provider, plain_client(), owner, "outside", delivery, said))

    assert provider.refusals() == []
    assert provider.twice() == [f"user: {FACT}", "assistant: Noted."]


@DELIVERIES
@pytest.mark.parametrize("history", HISTORIES)
@pytest.mark.parametrize("owner", OWNERS)
def test_the_model_is_given_each_item_once(
    provider: Provider, owner: str, history: str, delivery: Delivery
) -> None:
    answers = asyncio.run(replayed(provider, stateful_client(), owner, history, delivery, SAID))

    assert answers[:3] == ["Noted.", "echo said: hello", "purple, Biscuit"]
    assert_no_faults(provider)
    last = provider.turns()[-1]
    assert users(last) == SAID
    assert kinds(last).count("function_call") == kinds(last).count("function_call_output") == 1


@pytest.mark.parametrize("owner", OWNERS)
def test_new_process_lists_the_servers_items(
    provider: Provider, owner: str
) -> None:
    async def story() -> None:
        history = OutsideHistory()
        session: AgentSession | None = None
        for said in (SAID[:2], SAID[2:]):
            agent = Agent(client=stateful_client(), tools=[echo], context_providers=[history])
            session = session or session_of(agent, provider, owner)
            for text in said:
                await agent.run(text, session=session)

    asyncio.run(story())

    assert_no_faults(provider)
    assert users(provider.turns()[-1]) == SAID


HANDED_ROUND: list[Item] = [
    {"answer": [{"call": {"name": "echo", "arguments": {"text": "hello"}}}]},
    {"answer": [{"message": "The first has called."}]},
    {"answer": [{"message": "The second has read it."}]},
    {"answer": [{"message": "The first has read that."}]},
    {"answer": [{"message": "The second is done."}]},
]


async def hand_round(client: Client) -> None:
    """A workflow in which one agent passes the conversation to another, and receives it back."""
    first = AgentExecutor(Agent(client=client, tools=[echo]), id="first")
    second = AgentExecutor(Agent(client=client), id="second")
    back = iter([True, False])
    builder = WorkflowBuilder(start_executor=first).add_edge(first, second)
    builder.add_edge(second, first, condition=lambda _: next(back))
    await builder.build().run(ECHO)


@pytest.mark.parametrize("script", [HANDED_ROUND], ids=["handed_round"])
def test_conversation_handed_back_is_rejected(provider: Provider) -> None:
    with pytest.raises(ChatClientException, match="Duplicate function call output found"):
        asyncio.run(hand_round(plain_client()))


@pytest.mark.parametrize("script", [HANDED_ROUND], ids=["handed_round"])
def test_conversation_handed_back_is_recognized(provider: Provider) -> None:
    asyncio.run(hand_round(stateful_client()))

    assert_no_faults(provider)
    *_, back, on = provider.turns()
    assert texts(back) == ["The first has called.", "The second has read it."]
    assert texts(on) == [*texts(back), "The first has read that."]
    for given in (back, on):
        assert users(given) == [ECHO]
        assert (
            kinds(given).count("function_call") == kinds(given).count("function_call_output") == 1
        )


async def unapproved(provider: Provider, client: Client, owner: str) -> str:
    """An agent requests approval for a tool call; the user writes something else."""
    agent = Agent(client=client, tools=[echo_if_approved])
    session = session_of(agent, provider, owner)
    await agent.run(FACT, session=session)
    assert (await agent.run(ECHO, session=session)).user_input_requests
    return (await agent.run(RECALL, session=session)).text


@pytest.mark.parametrize("owner", OWNERS)
def test_unapproved_call_breaks_the_session(provider: Provider, owner: str) -> None:
    with pytest.raises(ChatClientException, match="No tool output found for function call"):
        asyncio.run(unapproved(provider, plain_client(), owner))


@pytest.mark.parametrize("owner", OWNERS)
def test_unapproved_call_gets_a_placeholder(provider: Provider, owner: str) -> None:
    assert asyncio.run(unapproved(provider, stateful_client(), owner)) == "purple, Biscuit"

    assert_no_faults(provider)


@pytest.mark.parametrize("owner", OWNERS)
def test_late_approval_takes_effect(provider: Provider, owner: str) -> None:
    async def story() -> str:
        agent = Agent(client=stateful_client(), tools=[echo_if_approved])
        session = session_of(agent, provider, owner)
        [request] = (await agent.run(ECHO, session=session)).user_input_requests
        await agent.run(FACT, session=session)
        approval = Message("user", [request.to_function_approval_response(True)])
        await agent.run(approval, session=session)
        return (await agent.run(RECALL, session=session)).text

    assert asyncio.run(story()) == "purple, Biscuit"

    assert_no_faults(provider)
    assert "hello" in str(provider.sent()[-2])
    given = kinds(provider.turns()[-1])
    assert given.count("function_call") == given.count("function_call_output") == 1


async def left(provider: Provider, client: Client, place: str) -> str:
    """A fact, a streamed turn whose reader is cancelled in the middle, a recall."""
    agent = Agent(client=client, tools=[echo], context_providers=[OutsideHistory()])
    session = session_of(agent, provider, "conversation")
    await agent.run(FACT, session=session)
    provider.hold(place)
    told = asyncio.Event()

    async def read() -> None:
        async for update in agent.run(ECHO, session=session, stream=True):
            if any(content.type == "function_call" for content in update.contents):
                told.set()

    reading = asyncio.create_task(read())
    await asyncio.wait_for(told.wait(), 10)
    reading.cancel()
    await asyncio.wait([reading])
    return (await once_free_again(lambda: agent.run(RECALL, session=session))).text


def test_abandoned_stream_breaks_the_conversation(provider: Provider) -> None:
    with pytest.raises(ChatClientException, match="No tool output found for function call"):
        asyncio.run(left(provider, plain_client(), "behind_call"))


@pytest.mark.parametrize("on_abort", ["part", "whole", "nothing"])
@pytest.mark.parametrize("place", ["in_arguments", "behind_call"])
def test_abandoned_stream_is_repaired(provider: Provider, place: str) -> None:
    assert asyncio.run(left(provider, stateful_client(), place)) == "purple, Biscuit"

    assert provider.twice() == []
    last = provider.turns()[-1]
    assert kinds(last).count("function_call") == kinds(last).count("function_call_output")


def test_foreign_client_is_wrapped_in_place(provider: Provider) -> None:
    client = plain_client()

    assert stateful(client) is client

    asyncio.run(replayed(provider, client, "conversation", "outside", run, SAID))
    assert_no_faults(provider)


def test_given_openai_client_is_not_modified(provider: Provider) -> None:
    given = AsyncOpenAI()

    made = OpenAIChatClient("fake-model", async_client=given)

    assert made.client is not given
    assert made.client.base_url == given.base_url
    assert (
        made.to_dict().keys() == PlainChatClient("fake-model", async_client=given).to_dict().keys()
    )


def assert_no_faults(provider: Provider) -> None:
    """The provider rejected no request, and the model read no item twice."""
    assert provider.refusals() == []
    assert provider.twice() == []


def users(items: list[Item]) -> list[str]:
    """The user's texts in order."""
    return said_by("user", items)


def texts(items: list[Item]) -> list[str]:
    """The models' texts in order."""
    return said_by("assistant", items)


def said_by(role: str, items: list[Item]) -> list[str]:
    contents = [item["content"] for item in items if item.get("role") == role]
    return ["".join(part["text"] for part in parts) for parts in contents]


def kinds(items: list[Item]) -> list[str]:
    return [str(item.get("type", "message")) for item in items]
