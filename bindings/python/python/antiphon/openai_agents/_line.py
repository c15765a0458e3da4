"""The line in which the runs of one conversation wait for each other."""

import asyncio
from collections import deque
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock

from agents.exceptions import AgentsException


class ConversationBusy(AgentsException):
    """Another run of this process holds the conversation.

    It did so for longer than a run waits for it, or it is the run whose tool began this one.
    """

    def __init__(self, conversation: str, held: str) -> None:
        super().__init__(f"Conversation '{conversation}' {held}.")
        self.conversation = conversation


@dataclass(frozen=True, eq=False)
class Place:
    """A place in a conversation's line; its turn has come once `first` is done."""

    conversation: str
    loop: asyncio.AbstractEventLoop
    first: "Future[None]" = field(default_factory=Future)


class Line:
    """Lets one run at a time into a conversation, in order of arrival, whatever loop it runs on.

    A run whose loop was closed before the run was over holds nobody up.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._places: dict[str, deque[Place]] = {}

    async def enter(self, conversation: str, seconds: float) -> Place:
        """Waits for the conversation for so many seconds at the most."""
        place = self._stand(conversation)
        if place.first.done():
            return place
        try:
            await asyncio.wait_for(asyncio.wrap_future(place.first), seconds)
        except asyncio.TimeoutError:
            self.leave(place)
            held = f"was held by other runs for {seconds:g} seconds"
            raise ConversationBusy(conversation, held) from None
        except BaseException:
            self.leave(place)
            raise
        return place

    def leave(self, place: Place) -> None:
        """Gives up a place, and lets the next one in."""
        with self._lock:
            places = self._places.get(place.conversation, deque())
            with suppress(ValueError):
                places.remove(place)
            let_first_in(places)
            if not places:
                self._places.pop(place.conversation, None)

    def _stand(self, conversation: str) -> Place:
        place = Place(conversation, asyncio.get_running_loop())
        with self._lock:
            places = self._places.setdefault(conversation, deque())
            places.append(place)
            let_first_in(places)
        return place


def let_first_in(places: deque[Place]) -> None:
    """Tells who stands first, on a loop that still runs, that its turn has come.

    A place whose run was let in or has given up hears nothing more.
    """
    while places and places[0].loop.is_closed():
        places.popleft()
    if places:
        with suppress(InvalidStateError):
            places[0].first.set_result(None)
