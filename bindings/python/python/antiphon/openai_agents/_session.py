"""A session of the SDK whose history a server will take."""

from typing import Any, cast

from agents.items import TResponseInputItem
from agents.memory import Session, SessionABC, SessionSettings

import antiphon


class WholeSession(SessionABC):
    """A session in front of another one, where the program keeps the history.

    - What is read is mended: calls without an output, outputs without a call, reasoning that leads
      nowhere, items that stand there twice. What is stored stays as it is.
    - What is added and stands there already is not added again, as after a write whose answer was
      lost.

    Everything else is the other session's: its id, its settings, its compaction.
    """

    def __init__(self, session: Session) -> None:
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
        return cast(list[TResponseInputItem], antiphon.repair(stored).items)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Adds what is not in the history."""
        if not items:
            return
        held = await self._session.get_items()
        verdicts = antiphon.reconcile(held, items)
        new = [item for item, verdict in zip(items, verdicts, strict=True) if verdict.is_fresh]
        if new:
            await self._session.add_items(new)

    async def pop_item(self) -> TResponseInputItem | None:
        """Takes the latest item out of what is stored."""
        return await self._session.pop_item()

    async def clear_session(self) -> None:
        """Empties the other session."""
        await self._session.clear_session()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)
