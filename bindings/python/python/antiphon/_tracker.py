"""Tracks the items that a server has, lacks, and is being sent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from antiphon import _native
from antiphon._responses import check_response
from antiphon._arguments import parse_items, parse_occurrence, parse_occurrences, parse_state_id


@dataclass(frozen=True, slots=True)
class Planned:
    """An item of the next request. Without changes, it is the same object that was added."""

    occurrence: int
    item: Any
    is_as_added: bool


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An item that is not sent, and the reason: `accepted`, `in_flight` (in `attempt`), `held_id`,
    `held_reasoning`, `held_call`, `held_output`, `repeated`, `approval_placeholder` or
    `call_not_held`."""

    occurrence: int
    reason: str
    attempt: int | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """The items of the next request, and the reasons why others are not sent."""

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
        """The argument for `Tracker.send`."""
        return [planned.occurrence for planned in self.planned]


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A call that the server has and that no output answers."""

    id: str | None
    kind: str
    call_id: str


@dataclass(frozen=True, slots=True)
class Unresolved:
    """Open matters that can make the next request fail."""

    calls: list[Unanswered]
    outputs: list[int]
    """Outputs whose calls the server may not have."""
    attempts: list[int]
    """Requests without an answer."""


class Tracker:
    """Tracks the items that one run has sent to the server, and those that it has yet to send.

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

    `add` returns a number for each item, `send` one for each request; other methods refer to items
    and requests by these numbers. A method that raises `TrackerError` has changed nothing.
    Arguments have the same types as for `check`. A tracker is thread-safe.
    """

    __slots__ = ("_given", "_tracker")

    def __init__(
        self,
        *,
        conversation: str | None = None,
        previous_response_id: str | None = None,
        auto_previous_response_id: bool = False,
        reasoning_ids: Literal["keep", "omit"] = "keep",
    ) -> None:
        """Sets the owner of the conversation's state.

        The server owns it as a `conversation`, as the chain from `previous_response_id`, or, with
        `auto_previous_response_id`, as the chain of the run's own responses. A client that stores
        the history itself needs no tracker. `reasoning_ids` chooses whether reasoning is sent with
        its ids.
        """
        options = {
            "conversation": parse_state_id("conversation", conversation),
            "previous_response_id": parse_state_id("previous_response_id", previous_response_id),
            "auto_previous_response_id": auto_previous_response_id,
            "reasoning_ids": reasoning_ids,
        }
        self._tracker = _native.Tracker(options)
        self._given: dict[int, Any] = {}

    def add(self, items: Iterable[Any]) -> list[int]:
        """Adds items: initial input, later input, tool outputs. Returns the number of each."""
        given = parse_items("items", items)
        occurrences = self._tracker.add(given)
        self._given.update(zip(occurrences, given))
        return occurrences

    def plan(self) -> Plan:
        """Returns the content of the next request. Changes nothing."""
        plan = self._tracker.plan()
        return Plan(
            [self._planned(**planned) for planned in plan["items"]],
            [LeftOut(**left_out) for left_out in plan["left_out"]],
            plan["conversation"],
            plan["previous_response_id"],
        )

    def send(self, occurrences: Iterable[int]) -> int:
        """Marks items as sent. Call it right before the request. Returns the request's number."""
        return self._tracker.send(parse_occurrences(occurrences))

    def send_filtered(self, returned: Iterable[tuple[int | None, Any]]) -> int:
        """Marks items as sent that a filter returned instead of the plan's.

        Each item comes with the number of the planned item that it replaces, or None if that is
        unknown. Returns the request's number.
        """
        entries = [{"occurrence": occurrence, "item": item} for occurrence, item in returned]
        return self._tracker.send_filtered(entries)

    def accept(self, attempt: int, response: Any) -> None:
        """Records a response: the server now has the request's items and the response's output.

        The response is a model or a mapping with `id` and `output`. Raises `TypeError` for other
        values, and `TrackerError` for a failed response: nothing changes, and you call `rewind`.
        """
        self._tracker.accept(attempt, check_response(response))
        self._forget_accepted()

    def rewind(self, attempt: int) -> list[int]:
        """Records that the request failed. Returns its items, to be sent again."""
        return self._tracker.rewind(attempt)

    def hydrate(self, held: Iterable[Any]) -> list[int]:
        """Takes the server's list as its full state. Returns the sent items that it contains."""
        accepted = self._tracker.hydrate(held)
        self._forget_accepted()
        return accepted

    def unresolved(self) -> Unresolved:
        """Returns calls, outputs and requests that can make the next request fail."""
        unresolved = self._tracker.unresolved()
        calls = [Unanswered(**call) for call in unresolved["calls"]]
        return Unresolved(calls, unresolved["outputs"], unresolved["attempts"])

    def standing(self, occurrence: int) -> tuple[str, int | None] | None:
        """Returns `pending`, `sent` with the request, or `accepted`; None for unknown numbers."""
        return self._tracker.standing(parse_occurrence(occurrence))

    @property
    def turns(self) -> int:
        """The number of accepted responses."""
        return self._tracker.turns()

    @property
    def conversation(self) -> str | None:
        """The `conversation` of the next request."""
        return self._tracker.conversation()

    @property
    def previous_response_id(self) -> str | None:
        """The `previous_response_id` of the next request."""
        return self._tracker.previous_response_id()

    def finish(self) -> None:
        """Ends the run: no items can be added after it."""
        self._tracker.finish()

    @property
    def is_finished(self) -> bool:
        """Whether the run has ended."""
        return self._tracker.is_finished()

    def to_json(self) -> str:
        """Returns the tracker as JSON, including unanswered requests."""
        return self._tracker.to_json()

    @classmethod
    def from_json(cls, snapshot: str) -> Tracker:
        """Restores a tracker from the JSON of `to_json`. Its items are dicts."""
        tracker = cls.__new__(cls)
        tracker._tracker = _native.Tracker.from_json(snapshot)
        tracker._given = {}
        return tracker

    def _planned(self, occurrence: int, item: Mapping[str, Any], is_as_added: bool) -> Planned:
        given = self._given.get(occurrence, item) if is_as_added else item
        return Planned(occurrence, given, is_as_added)

    def _forget_accepted(self) -> None:
        """Drops the objects of accepted items, which no plan contains again."""
        for occurrence in list(self._given):
            if self._tracker.standing(occurrence) == ("accepted", None):
                self._given.pop(occurrence, None)
