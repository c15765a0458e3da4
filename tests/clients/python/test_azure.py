"""Azure's clients: `AzureOpenAI`, and Agent Framework's client for a Foundry project.

They send other paths than `/v1/responses`, and `AzureOpenAI` sends its key in the header `api-key`.
Azure keeps chains of responses, and no conversations.
"""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from agent_framework import Agent, InMemoryHistoryProvider
from agent_framework_foundry import FoundryChatClient
from azure.core.credentials import AccessToken
from azure.core.credentials_async import AsyncTokenCredential

import openai_leaving
from context import Tenant, assert_each_item_once, assert_only_new_is_sent
from dialogue import FACT, RECALL, Echo, Scene, hold_dialogue
from leaving import MOMENTS, Moment, assert_gone_on, assert_recalled, whole_dialogue
from openai_delivery import DELIVERIES
from openai_state import STATES
from test_agent_framework import Delivery, echo_tool, run, run_streamed
from test_openai import ECHO_TOOL, turn, user

WAYS = ["previous_response_id", "replay_stored"]


@pytest.fixture
def azure(tenant: Tenant) -> Tenant:
    """The test's caller, with Azure's clients."""
    return replace(tenant, uses_azure=True)


@pytest.mark.parametrize("delivery", DELIVERIES)
@pytest.mark.parametrize("way", WAYS)
def test_three_turns(
    azure: Tenant, loop: asyncio.Runner, scene: Scene, echo: Echo, way: str, delivery: str
) -> None:
    state = STATES[way](azure)
    respond = DELIVERIES[delivery](azure, loop)

    dialogue = hold_dialogue(scene, lambda text: turn(respond, state, scene, echo, text), echo)

    if scene.model == "sim":
        return
    assert_each_item_once(azure, dialogue)
    if way == "previous_response_id":
        assert_only_new_is_sent(azure, dialogue)


@pytest.mark.parametrize("moment", MOMENTS, ids=str)
def test_a_turn_that_is_left(azure: Tenant, loop: asyncio.Runner, moment: Moment) -> None:
    state = STATES["previous_response_id"](azure)
    respond = DELIVERIES["stream"](azure, loop)
    leave = openai_leaving.DELIVERIES["stream"](azure, loop)
    ask = {"model": "fake-model", "tools": [ECHO_TOOL]}
    state.accept(respond(**ask, **state.params([user(FACT)])))

    azure.stop_next_answer(moment.place)
    heard = leave(moment, **ask, **state.params([user(moment.said)]))
    heard.settle(state)
    outputs = heard.late_outputs if moment.late_output else []
    recall = {**ask, "tool_choice": "none"}
    answer = respond(**recall, **state.params([*outputs, user(RECALL)]))

    assert_recalled(answer.output_text)
    assert_gone_on(azure, whole_dialogue(moment))


# The path of a project is before that of the API, and may be left out.
ENDPOINTS = ["", "/api/projects/pets"]


@pytest.mark.parametrize("delivery", [run, run_streamed])
@pytest.mark.parametrize("history", [False, True], ids=["chain", "history_beside_chain"])
@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=["resource", "project"])
def test_three_turns_in_foundry(
    tenant: Tenant,
    loop: asyncio.Runner,
    scene: Scene,
    echo: Echo,
    endpoint: str,
    history: bool,
    delivery: Delivery,
) -> None:
    agent = Agent(
        client=FoundryChatClient(
            project_endpoint=f"{tenant.root}{endpoint}",
            model=scene.model,
            credential=Credential(tenant.api_key),
        ),
        tools=[echo_tool(echo)],
        context_providers=[InMemoryHistoryProvider()] if history else None,
    )
    session = agent.create_session()

    dialogue = hold_dialogue(
        scene, lambda text: loop.run(delivery(agent, text, session)).text, echo
    )

    if scene.model != "sim":
        assert_each_item_once(tenant, dialogue)


class Credential(AsyncTokenCredential):
    """A credential whose token is the caller's key."""

    def __init__(self, key: str) -> None:
        self._key = key

    async def get_token(self, *scopes: str, **options: Any) -> AccessToken:
        return AccessToken(self._key, 2**40)

    async def close(self) -> None:
        pass

    async def __aexit__(self, *_: object) -> None:
        pass
