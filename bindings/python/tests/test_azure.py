"""Azure's clients at a provider that serves response chains and no conversations."""

import asyncio
import os
from collections.abc import Callable, Iterator
from typing import Any

import openai
import pytest
from agent_framework import Agent, InMemoryHistoryProvider, tool
from agent_framework.exceptions import ChatClientException
from agent_framework_foundry import FoundryChatClient
from azure.core.credentials import AccessToken
from azure.core.credentials_async import AsyncTokenCredential

from antiphon.agent_framework import stateful as stateful_agent_client
from provider import Provider
from speaking import ECHO, Speaker, output_of, replayed, user

FACT = "My color is purple, dog is Biscuit"
CALL = "Echo hello"
RECALL = "What is my color and dog name?"
MODEL = "fake-model"

pytestmark = pytest.mark.parametrize("profile", ["azure"])

Client = openai.OpenAI | openai.AsyncOpenAI

OLD_VERSION: dict[str, Any] = {"api_version": "2025-04-01-preview"}

# Clients by the form of their path. Azure's own classes send the key in the header `api-key`.
CLIENTS: dict[str, Callable[[Provider], Client]] = {
    "azure": lambda provider: openai.AzureOpenAI(
        azure_endpoint=provider.root, api_key=provider.key, max_retries=0, **OLD_VERSION
    ),
    "azure_async": lambda provider: openai.AsyncAzureOpenAI(
        azure_endpoint=provider.root, api_key=provider.key, max_retries=0, **OLD_VERSION
    ),
    "v1": lambda provider: openai.OpenAI(base_url=f"{provider.root}/openai/v1/", max_retries=0),
    "v1_async": lambda provider: openai.AsyncOpenAI(
        base_url=f"{provider.root}/openai/v1/", max_retries=0
    ),
}

PATHS = {"azure": "/openai/responses", "v1": "/openai/v1/responses"}


@pytest.fixture(params=CLIENTS)
def azure(request: pytest.FixtureRequest, provider: Provider) -> Iterator[Speaker]:
    """A stateful client of Azure, of each kind."""
    speaker = Speaker(CLIENTS[request.param](provider))
    yield speaker
    speaker.close()


def model_input(provider: Provider) -> list[int]:
    """The number of items that the model read in each accepted turn."""
    return [len(given) for given in provider.turns()]


@pytest.mark.parametrize("way", ["create", "stream", "events"])
def test_chain_takes_whole_histories(provider: Provider, azure: Speaker, way: str) -> None:
    """The program sends its history with every request, tool calls included."""
    answer_of: Callable[..., Any] = {
        "create": azure.create,
        "stream": azure.stream,
        "events": lambda **request: azure.events(**request)[-1].response,
    }[way]
    history: list[Any] = []
    previous = None
    answer: Any = None
    for new in ([user(FACT)], [user(CALL)], None, [user(RECALL)]):
        history += output_of(answer) if new is None else new
        tools = {"tools": [ECHO]}
        answer = answer_of(input=history, previous_response_id=previous, **tools)
        history += replayed(answer)
        previous = answer.id

    assert answer.output_text == "purple, Biscuit"
    assert model_input(provider) == [1, 3, 6, 8]
    assert provider.refusals() == provider.twice() == []
    assert [len(sent) for sent in provider.sent()] == [1, 1, 1, 1]


@pytest.mark.parametrize("client", CLIENTS)
def test_new_process_lists_the_chain(provider: Provider, client: str) -> None:
    one, other = Speaker(CLIENTS[client](provider)), Speaker(CLIENTS[client](provider))
    first = one.create(input=[user(FACT)])

    history = [user(FACT), *replayed(first), user(RECALL)]
    answer = other.create(input=history, previous_response_id=first.id)
    for speaker in (one, other):
        speaker.close()

    assert answer.output_text == "purple, Biscuit"
    assert provider.refusals() == provider.twice() == []


@pytest.mark.parametrize("on_abort", ["part", "whole"])
def test_aborted_turn_leaves_a_chain_that_continues(provider: Provider, azure: Speaker) -> None:
    first = azure.create(input=[user(FACT)])
    provider.hold("behind_call")
    tools = {"tools": [ECHO]}
    events = azure.events(
        until="response.output_item.done",
        input=[user(CALL)],
        previous_response_id=first.id,
        **tools,
    )

    provider.wait_until_idle()

    left = events[0].response.id
    answer = azure.create(input=[user(RECALL)], previous_response_id=left, **tools)

    assert answer.output_text == "purple, Biscuit"
    assert provider.refusals() == provider.twice() == []


@pytest.mark.parametrize("client", ["azure", "v1"])
def test_unwrapped_client_is_refused(provider: Provider, client: str) -> None:
    unwrapped = CLIENTS[client](provider)
    first: Any = unwrapped.responses.create(model=MODEL, input=FACT)
    history = [user(FACT), *replayed(first), user(RECALL)]

    with pytest.raises(openai.BadRequestError, match="Duplicate item found with id msg_"):
        unwrapped.responses.create(model=MODEL, input=history, previous_response_id=first.id)
    assert {entry["path"] for entry in provider.log()} == {PATHS[client]}
    assert {entry["token"] for entry in provider.log()} == {provider.key}


def test_azure_has_no_conversations(provider: Provider, azure: Speaker) -> None:
    with pytest.raises(openai.NotFoundError, match="Resource not found"):
        azure.awaited(azure.client.conversations.create())


class Credential(AsyncTokenCredential):
    """A credential whose token is the key."""

    def __init__(self, key: str) -> None:
        self._key = key

    async def get_token(self, *scopes: str, **_: Any) -> AccessToken:
        return AccessToken(self._key, 2**40)

    async def close(self) -> None:
        pass

    async def __aexit__(self, *_: object) -> None:
        pass


@pytest.fixture(autouse=True)
def no_foundry_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("FOUNDRY_")]:
        monkeypatch.delenv(name)


@tool(name="echo", approval_mode="never_require")
def echo(text: str) -> str:
    """Returns the text."""
    return text


def foundry_client(provider: Provider, endpoint: str) -> FoundryChatClient[Any]:
    client: FoundryChatClient[Any] = FoundryChatClient(
        project_endpoint=f"{provider.root}{endpoint}",
        model=MODEL,
        credential=Credential(provider.key),
    )
    client.client = client.client.with_options(max_retries=0)
    return client


async def held(client: FoundryChatClient[Any], streams: bool, said: list[str]) -> list[str]:
    """Answers of an agent that has a history provider beside its chain of responses."""
    agent = Agent(client=client, tools=[echo], context_providers=[InMemoryHistoryProvider()])
    session = agent.create_session()
    answers = []
    for text in said:
        if streams:
            stream = agent.run(text, session=session, stream=True)
            answers.append((await stream.get_final_response()).text)
        else:
            answers.append((await agent.run(text, session=session)).text)
    return answers


SAID = [FACT, CALL, RECALL, "Thanks"]
ENDPOINTS = ["", "/api/projects/pets"]


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_foundry_agent_reads_each_item_once(
    provider: Provider, endpoint: str, streams: bool
) -> None:
    client = stateful_agent_client(foundry_client(provider, endpoint))

    answers = asyncio.run(held(client, streams, SAID))

    assert answers[:3] == ["Noted.", "echo said: hello", "purple, Biscuit"]
    assert model_input(provider) == [1, 3, 6, 8, 10]
    assert provider.refusals() == provider.twice() == []
    assert {entry["path"] for entry in provider.log()} == {f"{endpoint}/openai/v1/responses"}


def test_unwrapped_foundry_agent_is_refused(provider: Provider) -> None:
    with pytest.raises(ChatClientException, match="Duplicate function call output found"):
        asyncio.run(held(foundry_client(provider, ""), False, SAID))

