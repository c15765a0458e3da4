"""Sessions of the OpenAI Agents SDK, for histories that the program stores."""

import asyncio
import copy
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from agents import OpenAIConversationsSession, SQLiteSession
from agents.memory import Session, SessionSettings
from openai import BadRequestError

from agents_sdk import (
    ECHO,
    FACT,
    RECALL,
    RECALLED,
    Setting,
    Settings,
    antiphonal,
    assert_no_faults,
    echo_tool,
    plain,
)
from antiphon.openai_agents import WholeSession
from provider import Provider

Kept = Callable[[Setting], Session]
Story = Callable[[Session], Awaitable[None]]


def in_sqlite(_: Setting) -> Session:
    return SQLiteSession("the only one")


def in_conversation(setting: Setting) -> Session:
    return OpenAIConversationsSession(openai_client=setting.client)


SESSIONS = {"sqlite": in_sqlite, "conversation": in_conversation}


def as_it_is(session: Session) -> Session:
    return session


async def undo_half_of_a_turn(session: Session) -> None:
    """Removes an answer, the output and the call, but not the reasoning before the call."""
    for _ in range(3):
        await session.pop_item()


async def add_the_last_turn_again(session: Session) -> None:
    """Repeats the last write, as after a lost answer."""
    await session.add_items((await session.get_items())[-4:])


async def keep_little(session: Session) -> None:
    """Removes the reasoning before the call."""
    assert session.session_settings is not None
    session.session_settings.limit = 3


CASES = {
    "reasoning_that_leads_nowhere": (
        undo_half_of_a_turn,
        "sqlite",
        "of type 'reasoning' was provided without its required following item",
    ),
    "items_that_stand_there_twice": (
        add_the_last_turn_again,
        "sqlite",
        "Duplicate item found with id",
    ),
    "a_call_without_its_reasoning": (
        keep_little,
        "sqlite",
        "was provided without its required 'reasoning' item",
    ),
    "reasoning_in_a_conversation": (
        undo_half_of_a_turn,
        "conversation",
        "of type 'reasoning' was provided without its required following item",
    ),
}


async def three_turns(
    kept: Kept, wrapped: Callable[[Session], Session], story: Story, settings: Settings = plain
) -> str:
    """A fact, a call, a change of the session, a recall."""
    async with settings() as setting:
        session = wrapped(kept(setting))
        agent = setting.agent(echo_tool())
        for text in (FACT, ECHO):
            await setting.run(agent, text, session=session)
        await story(session)
        return str((await setting.run(agent, RECALL, session=session)).final_output)


@pytest.mark.parametrize("case", CASES)
def test_faulty_history_is_rejected(provider: Provider, case: str) -> None:
    story, kept, refusal = CASES[case]

    with pytest.raises(BadRequestError, match=refusal):
        asyncio.run(three_turns(SESSIONS[kept], as_it_is, story))


@pytest.mark.parametrize("case", [case for case in CASES if case != "a_call_without_its_reasoning"])
def test_faulty_history_is_repaired_on_read(provider: Provider, case: str) -> None:
    story, kept, _ = CASES[case]

    recalled = asyncio.run(three_turns(SESSIONS[kept], WholeSession, story))

    assert recalled == RECALLED
    assert_no_faults(provider)


def test_client_retries_without_reasoning_cut_by_limit(provider: Provider) -> None:
    """The history itself does not show the cut; only the rejection does."""
    recalled = asyncio.run(three_turns(in_sqlite, as_it_is, keep_little, antiphonal))

    assert recalled == "I do not know."
    assert provider.twice() == []


@pytest.mark.parametrize("kept", SESSIONS)
def test_stateful_client_repairs_faulty_history(provider: Provider, kept: str) -> None:
    story = undo_half_of_a_turn

    assert asyncio.run(three_turns(SESSIONS[kept], as_it_is, story, antiphonal)) == RECALLED

    assert_no_faults(provider)


def test_stored_items_do_not_change() -> None:
    async def story() -> tuple[list[Any], list[Any]]:
        kept = SQLiteSession("the only one")
        await kept.add_items([{"type": "reasoning", "id": "rs_1", "summary": []}])
        return await WholeSession(kept).get_items(), await kept.get_items()

    seen, stored = asyncio.run(story())

    assert seen == []
    assert [item["id"] for item in stored] == ["rs_1"]


def test_repeated_user_messages_are_stored() -> None:
    async def story() -> list[Any]:
        session = WholeSession(SQLiteSession("the only one"))
        for text, answer in (("yes", "Noted."), ("yes", "Noted again.")):
            await session.add_items([{"role": "user", "content": text}])
            await session.add_items([{"role": "assistant", "content": answer}])
        return await session.get_items()

    said = [item["content"] for item in asyncio.run(story())]

    assert said == ["yes", "Noted.", "yes", "Noted again."]


UNNAMED = "__fake_id__"
"""The placeholder id of the SDK for models without item ids, as with Chat Completions."""


def unnamed_call(arguments: str = "{}") -> Any:
    return {
        "type": "function_call",
        "id": UNNAMED,
        "call_id": "call_0",
        "name": "echo",
        "arguments": arguments,
    }


def output(text: str) -> Any:
    return {"type": "function_call_output", "call_id": "call_0", "output": text}


def unnamed_answer(text: str) -> Any:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": UNNAMED, "role": "assistant", "content": content}


@pytest.mark.parametrize(
    "turns",
    [
        [[unnamed_answer("One.")], [unnamed_answer("Two.")]],
        [[unnamed_call(), output("1")], [unnamed_call('{"again": 1}'), output("2")]],
        [[unnamed_call(), output("1")], [unnamed_call(), output("2")]],
    ],
    ids=["answers", "other_calls", "other_outputs"],
)
def test_items_without_ids_are_stored(turns: list[list[Any]]) -> None:
    async def story() -> tuple[list[Any], list[Any]]:
        kept = SQLiteSession("the only one")
        for turn in turns:
            await WholeSession(kept).add_items([{"role": "user", "content": "Go on"}, *turn])
        return await kept.get_items(), await WholeSession(kept).get_items()

    stored, seen = asyncio.run(story())

    said = [item for item in stored if item.get("role") != "user"]
    assert said == [item for turn in turns for item in turn]
    assert len(seen) == len(stored)


def test_repeated_message_after_failure_is_stored() -> None:
    said: Any = {"role": "user", "content": "Go on"}
    call: Any = {**unnamed_call(), "id": "fc_1"}

    async def story() -> list[Any]:
        session = WholeSession(SQLiteSession("the only one"))
        await session.add_items([said])
        await session.add_items([said, call, output("1")])
        return await session.get_items()

    assert [item.get("content") for item in asyncio.run(story())] == ["Go on", "Go on", None, None]


def test_repairs_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    call: Any = {**unnamed_call(), "id": "fc_1"}

    async def story() -> None:
        kept = SQLiteSession("the only one")
        await kept.add_items([unnamed_answer("Secret."), call])
        await WholeSession(kept).get_items()

    asyncio.run(story())

    assert caplog.messages == ["repaired a session: unanswered_call, answered (1)"]


def test_a_session_can_be_copied() -> None:
    session = WholeSession(SQLiteSession("the only one"))

    assert copy.copy(session).session_id == "the only one"


def test_session_run_uses_the_sdk_unchanged(provider: Provider) -> None:
    async def story() -> list[str]:
        async with antiphonal() as setting:
            session = SQLiteSession("the only one")
            agent = setting.agent(echo_tool(), tool_use_behavior="stop_on_first_tool")
            said = (FACT, ECHO, RECALL)
            return [(await setting.run(agent, text, session=session)).final_output for text in said]

    assert asyncio.run(story()) == ["Noted.", "hello", RECALLED]
    assert_no_faults(provider)
    assert [entry["path"] for entry in provider.log()] == ["/v1/responses"] * 3


def test_settings_come_from_the_wrapped_session() -> None:
    kept = SQLiteSession("the only one", session_settings=SessionSettings(limit=3))
    session = WholeSession(kept)

    assert session.session_id == "the only one"
    assert session.session_settings is kept.session_settings
