"""Sessions of the OpenAI Agents SDK, whose history the program keeps and replays."""

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
    assert_whole,
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
    """Takes back an answer, the output and the call, but not the reasoning that led to it."""
    for _ in range(3):
        await session.pop_item()


async def add_the_last_turn_again(session: Session) -> None:
    """Writes once more what was written, as after a write whose answer was lost."""
    await session.add_items((await session.get_items())[-4:])


async def keep_little(session: Session) -> None:
    """Cuts the reasoning off that led to the call."""
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
    """A fact, a call, something that happens to the session, a recall."""
    async with settings() as setting:
        session = wrapped(kept(setting))
        agent = setting.agent(echo_tool())
        for text in (FACT, ECHO):
            await setting.run(agent, text, session=session)
        await story(session)
        return str((await setting.run(agent, RECALL, session=session)).final_output)


@pytest.mark.parametrize("case", CASES)
def test_a_history_that_is_not_whole_is_refused(provider: Provider, case: str) -> None:
    story, kept, refusal = CASES[case]

    with pytest.raises(BadRequestError, match=refusal):
        asyncio.run(three_turns(SESSIONS[kept], as_it_is, story))


@pytest.mark.parametrize("case", [case for case in CASES if case != "a_call_without_its_reasoning"])
def test_it_is_read_as_a_whole_one(provider: Provider, case: str) -> None:
    story, kept, _ = CASES[case]

    recalled = asyncio.run(three_turns(SESSIONS[kept], WholeSession, story))

    assert recalled == RECALLED
    assert_whole(provider)


def test_a_whole_client_learns_that_a_limit_has_cut_reasoning_off(provider: Provider) -> None:
    """Nothing in the history tells of it, only the refusal does."""
    recalled = asyncio.run(three_turns(in_sqlite, as_it_is, keep_little, antiphonal))

    assert recalled == "I do not know."
    assert provider.twice() == []


@pytest.mark.parametrize("kept", SESSIONS)
def test_a_whole_client_takes_a_history_that_is_not_whole(provider: Provider, kept: str) -> None:
    story = undo_half_of_a_turn

    assert asyncio.run(three_turns(SESSIONS[kept], as_it_is, story, antiphonal)) == RECALLED

    assert_whole(provider)


def test_what_is_stored_stays_as_it_is() -> None:
    async def story() -> tuple[list[Any], list[Any]]:
        kept = SQLiteSession("the only one")
        await kept.add_items([{"type": "reasoning", "id": "rs_1", "summary": []}])
        return await WholeSession(kept).get_items(), await kept.get_items()

    seen, stored = asyncio.run(story())

    assert seen == []
    assert [item["id"] for item in stored] == ["rs_1"]


def test_what_people_say_twice_is_kept_twice() -> None:
    async def story() -> list[Any]:
        session = WholeSession(SQLiteSession("the only one"))
        for text, answer in (("yes", "Noted."), ("yes", "Noted again.")):
            await session.add_items([{"role": "user", "content": text}])
            await session.add_items([{"role": "assistant", "content": answer}])
        return await session.get_items()

    said = [item["content"] for item in asyncio.run(story())]

    assert said == ["yes", "Noted.", "yes", "Noted again."]


UNNAMED = "__fake_id__"
"""What the SDK writes for the ids of models that give none: those of Chat Completions."""


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
def test_what_a_model_without_ids_says_is_kept(turns: list[list[Any]]) -> None:
    async def story() -> tuple[list[Any], list[Any]]:
        kept = SQLiteSession("the only one")
        for turn in turns:
            await WholeSession(kept).add_items([{"role": "user", "content": "Go on"}, *turn])
        return await kept.get_items(), await WholeSession(kept).get_items()

    stored, seen = asyncio.run(story())

    said = [item for item in stored if item.get("role") != "user"]
    assert said == [item for turn in turns for item in turn]
    assert len(seen) == len(stored)


def test_what_a_user_says_again_behind_a_turn_that_failed_is_kept() -> None:
    said = {"role": "user", "content": "Go on"}

    async def story() -> list[Any]:
        session = WholeSession(SQLiteSession("the only one"))
        await session.add_items([said])
        await session.add_items([said, {**unnamed_call(), "id": "fc_1"}, output("1")])
        return await session.get_items()

    assert [item.get("content") for item in asyncio.run(story())] == ["Go on", "Go on", None, None]


def test_what_is_mended_is_told(caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        kept = SQLiteSession("the only one")
        await kept.add_items([unnamed_answer("Secret."), {**unnamed_call(), "id": "fc_1"}])
        await WholeSession(kept).get_items()

    asyncio.run(story())

    assert caplog.messages == ["mended a session: unanswered_call, answered (1)"]


def test_a_session_can_be_copied() -> None:
    session = WholeSession(SQLiteSession("the only one"))

    assert copy.copy(session).session_id == "the only one"


def test_a_run_with_a_session_is_the_sdks_own(provider: Provider) -> None:
    async def story() -> list[str]:
        async with antiphonal() as setting:
            session = SQLiteSession("the only one")
            agent = setting.agent(echo_tool(), tool_use_behavior="stop_on_first_tool")
            said = (FACT, ECHO, RECALL)
            return [(await setting.run(agent, text, session=session)).final_output for text in said]

    assert asyncio.run(story()) == ["Noted.", "hello", RECALLED]
    assert_whole(provider)
    assert [entry["path"] for entry in provider.log()] == ["/v1/responses"] * 3


def test_the_other_sessions_settings_are_its_own() -> None:
    kept = SQLiteSession("the only one", session_settings=SessionSettings(limit=3))
    session = WholeSession(kept)

    assert session.session_id == "the only one"
    assert session.session_settings is kept.session_settings
