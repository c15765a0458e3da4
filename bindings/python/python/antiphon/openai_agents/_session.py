"""A session of the SDK with a repaired history."""

import logging
from collections import Counter
from typing import Any, cast

from agents.items import TResponseInputItem
from agents.memory import Session, SessionABC, SessionSettings
from agents.models.fake_id import FAKE_RESPONSES_ID

import antiphon
from antiphon._arguments import describe

logger = logging.getLogger("antiphon")

Items = list[TResponseInputItem]


class WholeSession(SessionABC):
    """Wraps another session, for histories that the program stores.

    - Reading repairs the history: calls without an output, outputs without a call, reasoning
      without the item after it, duplicate items. The stored items do not change.
    - Writing leaves out items that the session holds already, recognized by their id or call. A
      write can therefore be repeated if its answer was lost.

    The logger `antiphon` reports the number and kinds of repaired faults, without message text.
    Everything else comes from the wrapped session: its id, its settings, its compaction.
    """

    def __init__(self, session: Session) -> None:
        given: Any = session
        if isinstance(given, type) or not hasattr(given, "get_items"):
            raise TypeError(f"WholeSession wraps a session of the SDK, not {describe(given)}")
        self._session = session

    @property
    def session_id(self) -> str:
        """From the wrapped session."""
        return self._session.session_id

    @session_id.setter
    def session_id(self, value: str) -> None:
        self._session.session_id = value

    @property
    def session_settings(self) -> SessionSettings | None:
        """From the wrapped session."""
        return self._session.session_settings

    @session_settings.setter
    def session_settings(self, value: SessionSettings | None) -> None:
        self._session.session_settings = value

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Returns the repaired history, or its latest items."""
        stored = await self._session.get_items(limit)
        repaired = antiphon.repair(without_placeholders(stored))
        mends = Counter((mend.fault, mend.action) for mend in repaired.mends)
        for (fault, action), times in mends.items():
            logger.warning("repaired a session: %s, %s (%d)", fault, action, times)
        return cast(Items, repaired.items)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Adds the items that the history does not contain."""
        if not items:
            return
        held = await self._session.get_items()
        new = new_of(held, items)
        if new:
            await self._session.add_items(new)

    async def pop_item(self) -> TResponseInputItem | None:
        """Removes and returns the latest stored item."""
        return await self._session.pop_item()

    async def clear_session(self) -> None:
        """Removes all items of the wrapped session."""
        await self._session.clear_session()

    def __getattr__(self, name: str) -> Any:
        if name == "_session":  # A copy under construction has no attributes yet.
            raise AttributeError(name)
        return getattr(self._session, name)


def new_of(held: Items, items: Items) -> Items:
    """The items that the session does not hold. An item without an id or a call is always new.

    Some models reuse call ids in every turn, so a call with a new output is new too.
    """
    verdicts = antiphon.reconcile(without_placeholders(held), without_placeholders(items))
    judged = list(zip(items, verdicts, strict=True))
    new_calls = {call_of(item) for item, verdict in judged if not is_held(verdict)} - {None}
    return [
        item for item, verdict in judged if not is_held(verdict) or call_of(item) in new_calls
    ]


def is_held(verdict: antiphon.Verdict) -> bool:
    """Whether the session holds the item, by its id or call, with the same content."""
    is_named = verdict.rule in ("same_id", "same_call") and not verdict.differs
    return verdict.verdict == "duplicate" or is_named


def call_of(item: Any) -> Any:
    """The `call_id` of a call or an output without an id of the server."""
    return item.get("call_id") if server_id(item) is None else None


def without_placeholders(items: Items) -> list[Any]:
    """The items without the SDK's placeholder id, which does not identify an item."""
    return [
        {key: value for key, value in item.items() if key != "id"}
        if item.get("id") == FAKE_RESPONSES_ID
        else item
        for item in items
    ]


def server_id(item: Any) -> Any:
    """The id of the item, if a server assigned it."""
    return None if item.get("id") == FAKE_RESPONSES_ID else item.get("id")
