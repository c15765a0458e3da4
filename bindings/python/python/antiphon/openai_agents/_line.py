"""The line in which the runs of one conversation wait for each other."""

import asyncio
from collections import deque
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock

from agents.exceptions import AgentsException


class ConversationBusy(AgentsException):
    """Other runs of this process held the conversation for longer than a run waits for it."""

    def __init__(self, conversation: str, seconds: float) -> None:
        super().__init__(
            f"Conversation '{conversation}' was held by other runs for {seconds:g} seconds."
        )
        self.conversation = conversation


@dataclass(frozen=True, eq=False)
class Place:
    """A place in a conversation's line; its turn has come once `first` is done."""

    conversation: str
    first: "Future[None]" = field(default_factory=Future)


class Line:
    """Lets one run at a time into a conversation, in order of arrival, whatever loop it runs on."""

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
            raise ConversationBusy(conversation, seconds) from None
        except BaseException:
            self.leave(place)
            raise
        return place

    def leave(self, place: Place) -> None:
        """Gives up a place, and lets the next one in."""
        with self._lock:
            places = self._places[place.conversation]
            places.remove(place)
            if places:
                let_in(places[0])
            else:
                del self._places[place.conversation]

    def _stand(self, conversation: str) -> Place:
        place = Place(conversation)
        with self._lock:
            places = self._places.setdefault(conversation, deque())
            places.append(place)
            if places[0] is place:
                let_in(place)
        return place


def let_in(place: Place) -> None:
    """Tells who stands there. A place whose run was let in or has given up hears nothing more."""
    with suppress(InvalidStateError):
        place.first.set_result(None)
