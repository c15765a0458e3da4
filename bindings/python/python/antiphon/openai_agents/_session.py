"""A session of the SDK whose history a server will take."""

import logging
from collections import Counter
from typing import Any, cast

from agents.items import TResponseInputItem
from agents.memory import Session, SessionABC, SessionSettings
from agents.models.fake_id import FAKE_RESPONSES_ID

import antiphon
from antiphon._given import described

logger = logging.getLogger("antiphon")

Items = list[TResponseInputItem]


class WholeSession(SessionABC):
    """A session in front of another one, where the program keeps the history.

    - What is read is mended: calls without an output, outputs without a call, reasoning that leads
      nowhere, items that stand there twice. What is stored stays as it is.
    - What is added and stands there already, as its id or its call tells, is not added again, as
      after a write whose answer was lost.

    What was mended goes to the logger `antiphon`: how many and which faults, never what was said.
    Everything else is the other session's: its id, its settings, its compaction.
    """

    def __init__(self, session: Session) -> None:
        kept: Any = session
        if isinstance(kept, type) or not hasattr(kept, "get_items"):
            kind = described(kept)
            raise TypeError(f"WholeSession goes in front of a session of the SDK's, not {kind}")
        self._session = session

    @property
    def session_id(self) -> str:
        """The other session's."""
        return self._session.session_id

    @session_id.setter
    def session_id(self, value: str) -> None:
        self._session.session_id = value

    @property
    def session_settings(self) -> SessionSettings | None:
        """The other session's."""
        return self._session.session_settings

    @session_settings.setter
    def session_settings(self, value: SessionSettings | None) -> None:
        self._session.session_settings = value

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The history, or its latest items, as a server will take it."""
        stored = await self._session.get_items(limit)
        repaired = antiphon.repair(without_placeholders(stored))
        mends = Counter((mend.fault, mend.action) for mend in repaired.mends)
        for (fault, action), times in mends.items():
            logger.warning("mended a session: %s, %s (%d)", fault, action, times)
        return cast(Items, repaired.items)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Adds what is not in the history."""
        if not items:
            return
        held = await self._session.get_items()
        new = new_of(held, items)
        if new:
            await self._session.add_items(new)

    async def pop_item(self) -> TResponseInputItem | None:
        """Takes the latest item out of what is stored."""
        return await self._session.pop_item()

    async def clear_session(self) -> None:
        """Empties the other session."""
        await self._session.clear_session()

    def __getattr__(self, name: str) -> Any:
        if name == "_session":  # Of a copy that is being made, which has nothing yet.
            raise AttributeError(name)
        return getattr(self._session, name)


def new_of(held: Items, items: Items) -> Items:
    """What of the items is not held. A session is only added to: what has no name is new.

    Models may name their calls alike in every turn, so that a call of a new output is new too.
    """
    verdicts = antiphon.reconcile(without_placeholders(held), without_placeholders(items))
    judged = list(zip(items, verdicts, strict=True))
    new_calls = {call_of(item) for item, verdict in judged if not is_held(verdict)} - {None}
    return [
        item for item, verdict in judged if not is_held(verdict) or call_of(item) in new_calls
    ]


def is_held(verdict: antiphon.Verdict) -> bool:
    """Whether an item's id or its call tells that it stands there, and says the same."""
    is_named = verdict.rule in ("same_id", "same_call") and not verdict.differs
    return verdict.verdict == "duplicate" or is_named


def call_of(item: Any) -> Any:
    """The call that an item is or answers, where nothing else names it."""
    return item.get("call_id") if server_id(item) is None else None


def without_placeholders(items: Items) -> list[Any]:
    """The items as they are told apart: the SDK's placeholder for an id names none of them."""
    return [
        {key: value for key, value in item.items() if key != "id"}
        if item.get("id") == FAKE_RESPONSES_ID
        else item
        for item in items
    ]


def server_id(item: Any) -> Any:
    """The id that a server gave the item."""
    return None if item.get("id") == FAKE_RESPONSES_ID else item.get("id")
