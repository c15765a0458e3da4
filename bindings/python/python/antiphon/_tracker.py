"""What a server that owns a conversation's state has, lacks, and is being sent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from antiphon import _native
from antiphon._answers import answer_of
from antiphon._given import items_in, occurrence_of, occurrences_in, state_id


@dataclass(frozen=True, slots=True)
class Planned:
    """An item of the next request: the very object that was added, where it goes as it was."""

    occurrence: int
    item: Any
    is_as_added: bool


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An item that does not go, and why: `accepted`, `in_flight` (in `attempt`), `held_id`,
    `held_reasoning`, `held_call`, `held_output`, `repeated`, `approval_placeholder` or
    `call_not_held`."""

    occurrence: int
    reason: str
    attempt: int | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What the next request contains, and of everything else why not."""

    planned: list[Planned]
    left_out: list[LeftOut]
    conversation: str | None
    previous_response_id: str | None

    @property
    def items(self) -> list[Any]:
        """The `input` of the next request."""
        return [planned.item for planned in self.planned]

    @property
    def occurrences(self) -> list[int]:
        """What to tell `Tracker.send`."""
        return [planned.occurrence for planned in self.planned]


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A call that the server has, and nobody has an output for."""

    id: str | None
    kind: str
    call_id: str


@dataclass(frozen=True, slots=True)
class Unresolved:
    """What stands between the run and its next request."""

    calls: list[Unanswered]
    outputs: list[int]
    """Outputs whose calls the server is not known to have."""
    attempts: list[int]
    """Requests that nobody answered."""


class Tracker:
    """What one run has sent to the owner of its conversation's state, and what it has yet to send.

        tracker = Tracker(conversation="conv_1")
        tracker.add(new_items)
        plan = tracker.plan()
        attempt = tracker.send(plan.occurrences)
        try:
            response = client.responses.create(
                model="gpt-5", conversation=plan.conversation, input=plan.items
            )
        except Exception:
            tracker.rewind(attempt)
            raise
        tracker.accept(attempt, response)

    Items are named by the numbers that `add` gives, requests by those that `send` gives. Errors
    are `TrackerError`, and change nothing; arguments are read as `check` reads them. It may be
    shared between threads.
    """

    __slots__ = ("_given", "_tracker")

    def __init__(
        self,
        *,
        conversation: str | None = None,
        previous_response_id: str | None = None,
        auto_previous_response_id: bool = False,
        session: bool = False,
        reasoning_ids: Literal["keep", "omit"] = "keep",
    ) -> None:
        """The server's state is a `conversation`, or what follows `previous_response_id`, or with
        `auto_previous_response_id` the chain of the run's own responses; with `session` the client
        keeps the history itself, which excludes the others. `reasoning_ids` says whether reasoning
        is sent with its ids.
        """
        options = {
            "conversation": state_id("conversation", conversation),
            "previous_response_id": state_id("previous_response_id", previous_response_id),
            "auto_previous_response_id": auto_previous_response_id,
            "session": session,
            "reasoning_ids": reasoning_ids,
        }
        self._tracker = _native.Tracker(options)
        self._given: dict[int, Any] = {}

    def add(self, items: Iterable[Any]) -> list[int]:
        """Adds initial input, input that was staged, outputs of tools. The number of each."""
        given = items_in("items", items)
        occurrences = self._tracker.add(given)
        self._given.update(zip(occurrences, given))
        return occurrences

    def plan(self) -> Plan:
        """What the next request contains. Nothing changes."""
        plan = self._tracker.plan()
        return Plan(
            [self._planned(**planned) for planned in plan["items"]],
            [LeftOut(**left_out) for left_out in plan["left_out"]],
            plan["conversation"],
            plan["previous_response_id"],
        )

    def send(self, occurrences: Iterable[int]) -> int:
        """Marks what goes, right before it goes. The number of the request."""
        return self._tracker.send(occurrences_in(occurrences))

    def send_filtered(self, returned: Iterable[tuple[int | None, Any]]) -> int:
        """Marks what a filter made of the plan: its items, each with the number of the planned one
        that it is, or None where the filter does not say. The number of the request.
        """
        entries = [{"occurrence": occurrence, "item": item} for occurrence, item in returned]
        return self._tracker.send_filtered(entries)

    def accept(self, attempt: int, response: Any) -> None:
        """A response came, as a model or a mapping with `id` and `output`: the server has what the
        request contained, and the output.

        Raises `TypeError` for what is no answer, and `TrackerError` for one that says that it
        failed: nothing changes, and the request is to be rewound.
        """
        self._tracker.accept(attempt, answer_of(response))
        self._forget_accepted()

    def rewind(self, attempt: int) -> list[int]:
        """The request failed: what it contained, and is given here, is to be sent again."""
        return self._tracker.rewind(attempt)

    def hydrate(self, held: Iterable[Any]) -> list[int]:
        """Takes the server's own list for all that it has. What was on its way and is there."""
        accepted = self._tracker.hydrate(held)
        self._forget_accepted()
        return accepted

    def unresolved(self) -> Unresolved:
        """What the next request would fail on, or nobody can know."""
        unresolved = self._tracker.unresolved()
        calls = [Unanswered(**call) for call in unresolved["calls"]]
        return Unresolved(calls, unresolved["outputs"], unresolved["attempts"])

    def standing(self, occurrence: int) -> tuple[str, int | None] | None:
        """`pending`, `sent` (and in which request) or `accepted`; None for what was not added."""
        return self._tracker.standing(occurrence_of(occurrence))

    @property
    def turns(self) -> int:
        """How many calls of the model were accepted."""
        return self._tracker.turns()

    @property
    def conversation(self) -> str | None:
        """What the next request carries as `conversation`."""
        return self._tracker.conversation()

    @property
    def previous_response_id(self) -> str | None:
        """What the next request carries as `previous_response_id`."""
        return self._tracker.previous_response_id()

    def finish(self) -> None:
        """Ends the run: nothing can be added any more."""
        self._tracker.finish()

    @property
    def is_finished(self) -> bool:
        """Whether the run has ended."""
        return self._tracker.is_finished()

    def to_json(self) -> str:
        """The tracker as JSON, requests on their way included."""
        return self._tracker.to_json()

    @classmethod
    def from_json(cls, snapshot: str) -> Tracker:
        """A tracker from what `to_json` gave. Its items are dicts."""
        tracker = cls.__new__(cls)
        tracker._tracker = _native.Tracker.from_json(snapshot)
        tracker._given = {}
        return tracker

    def _planned(self, occurrence: int, item: Mapping[str, Any], is_as_added: bool) -> Planned:
        given = self._given.get(occurrence, item) if is_as_added else item
        return Planned(occurrence, given, is_as_added)

    def _forget_accepted(self) -> None:
        """What the server has is not planned any more, so its objects are not needed."""
        for occurrence in list(self._given):
            if self._tracker.standing(occurrence) == ("accepted", None):
                self._given.pop(occurrence, None)
