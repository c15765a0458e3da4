"""Runs the steps of a tracker case."""

from typing import Any

import antiphon
from antiphon import Tracker
from comparison import assert_equal


def run_tracker(options: dict[str, Any], steps: list[dict[str, Any]] | None = None) -> None:
    """Runs all steps, and compares each result with the expected one."""
    run = Run(tracker_of(options))
    for step in steps or []:
        run.step(**{"with_" if name == "with" else name: value for name, value in step.items()})


def tracker_of(options: dict[str, Any]) -> Tracker:
    """Python itself rejects an unknown option with `TypeError`."""
    try:
        return Tracker(**options)
    except TypeError as error:
        raise antiphon.TrackerError(str(error), "options") from error


class Run:
    """A tracker and the items that were added to it."""

    def __init__(self, tracker: Tracker) -> None:
        self.tracker = tracker
        self.added: dict[int, Any] | None = {}

    def step(self, do: str, with_: Any = None, gives: Any = ..., fails: str | None = None) -> None:
        """Runs one step, and compares its result with the expected one."""
        try:
            gave = self._do(do, with_, gives)
        except (antiphon.TrackerError, antiphon.Unreadable) as error:
            assert getattr(error, "name", "unreadable") == fails, error
            return
        assert fails is None, f"{do}: it should fail with {fails}"
        if gives is not ...:
            assert_equal(gave, gives)

    def _do(self, do: str, given: Any, wanted: Any) -> Any:
        match do:
            case "add":
                return self._add(given)
            case "plan":
                return self._plan({} if wanted is ... else wanted)
            case "send" | "rewind" | "hydrate":
                return getattr(self.tracker, do)(given)
            case "send_filtered":
                return self.tracker.send_filtered(
                    (entry.get("occurrence"), entry["item"]) for entry in given
                )
            case "accept":
                return self.tracker.accept(given["attempt"], given["response"])
            case "unresolved":
                return unresolved(self.tracker)
            case "standing":
                return standing(self.tracker, given)
            case "turns":
                return self.tracker.turns
            case "finish":
                return self.tracker.finish()
            case "restore":
                self.tracker = Tracker.from_json(self.tracker.to_json())
                self.added = None
                return None
        raise AssertionError(f'"do": "{do}" is not known')

    def _add(self, items: list[Any]) -> list[int]:
        occurrences = self.tracker.add(items)
        if self.added is not None:
            self.added.update(zip(occurrences, items))
        return occurrences

    def _plan(self, wanted: dict[str, Any]) -> dict[str, Any]:
        plan = self.tracker.plan()
        came = {
            "items": [self._place(planned) for planned in plan.planned],
            "left_out": [present(left_out) for left_out in plan.left_out],
            "conversation": plan.conversation,
            "previous_response_id": plan.previous_response_id,
        }
        return {name: came[name] for name in wanted}

    def _place(self, planned: antiphon.Planned) -> Any:
        """An unchanged item must be the same object, except after a restore."""
        if planned.is_as_added:
            if self.added is not None:
                assert planned.item is self.added[planned.occurrence]
            return planned.occurrence
        return {"occurrence": planned.occurrence, "item": planned.item}


def unresolved(tracker: Tracker) -> dict[str, Any]:
    found = tracker.unresolved()
    calls = [{"id": call.id, "kind": call.kind, "call_id": call.call_id} for call in found.calls]
    return {"calls": calls, "outputs": found.outputs, "attempts": found.attempts}


def standing(tracker: Tracker, occurrence: int) -> dict[str, Any] | None:
    found = tracker.standing(occurrence)
    if found is None:
        return None
    name, attempt = found
    return {"standing": name} if attempt is None else {"standing": name, "attempt": attempt}


def present(left_out: antiphon.LeftOut) -> dict[str, Any]:
    told = {"occurrence": left_out.occurrence, "reason": left_out.reason}
    return told if left_out.attempt is None else {**told, "attempt": left_out.attempt}
