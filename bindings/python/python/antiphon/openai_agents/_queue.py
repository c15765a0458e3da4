"""A queue in which the runs of one conversation wait for each other."""

import asyncio
from collections import deque
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock

from agents.exceptions import AgentsException


class ConversationBusy(AgentsException):
    """Another run of this process holds the conversation.

    The other run held it for longer than `Runner.line_seconds`, or a tool of that run started this
    run.
    """

    def __init__(self, conversation: str, reason: str) -> None:
        super().__init__(f"Conversation '{conversation}' {reason}.")
        self.conversation = conversation


@dataclass(frozen=True, eq=False)
class Ticket:
    """A run's place in the queue of a conversation. `first` is done when the run may start."""

    conversation: str
    loop: asyncio.AbstractEventLoop
    first: "Future[None]" = field(default_factory=Future)


class RunQueue:
    """Admits one run at a time to a conversation, in order of arrival, across event loops.

    A run whose loop was closed before its end does not block the others.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._tickets: dict[str, deque[Ticket]] = {}

    async def enter(self, conversation: str, seconds: float) -> Ticket:
        """Waits for the conversation. Raises `ConversationBusy` after `seconds`."""
        ticket = self._enqueue(conversation)
        if ticket.first.done():
            return ticket
        try:
            await asyncio.wait_for(asyncio.wrap_future(ticket.first), seconds)
        except asyncio.TimeoutError:
            self.leave(ticket)
            reason = f"was held by other runs for {seconds:g} seconds"
            raise ConversationBusy(conversation, reason) from None
        except BaseException:
            self.leave(ticket)
            raise
        return ticket

    def leave(self, ticket: Ticket) -> None:
        """Removes a ticket, and admits the next run."""
        with self._lock:
            tickets = self._tickets.get(ticket.conversation, deque())
            with suppress(ValueError):
                tickets.remove(ticket)
            admit_first(tickets)
            if not tickets:
                self._tickets.pop(ticket.conversation, None)

    def _enqueue(self, conversation: str) -> Ticket:
        ticket = Ticket(conversation, asyncio.get_running_loop())
        with self._lock:
            tickets = self._tickets.setdefault(conversation, deque())
            tickets.append(ticket)
            admit_first(tickets)
        return ticket


def admit_first(tickets: deque[Ticket]) -> None:
    """Admits the first run whose event loop is still open.

    Does nothing if that run was admitted before or has stopped waiting.
    """
    while tickets and tickets[0].loop.is_closed():
        tickets.popleft()
    if tickets:
        with suppress(InvalidStateError):
            tickets[0].first.set_result(None)
