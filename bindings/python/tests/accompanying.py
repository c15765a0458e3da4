"""Runs the steps of a case of a stateful client."""

import json
from typing import Any

from antiphon._native import Ask, GiveUp, Send, StatefulClient, Turn
from comparison import assert_named_fields_equal, assert_equal

ACCOUNT = "account"

NOW = 1_770_000_060

MENDING = ("position", "id", "kind", "fault", "action", "message")


def run_stateful(steps: list[dict[str, Any]]) -> None:
    """Runs all steps, and compares each result with the expected one."""
    world = World()
    for step in steps:
        assert set(step) <= {"do", "with", "gives"}, "a field of a step that is not known"
        gave = world.step(step["do"], step.get("with"))
        if "gives" in step:
            is_named = step["do"] in ("report", "passed")
            same = assert_named_fields_equal if is_named else assert_equal
            same(gave, step["gives"])


class World:
    """A stateful client with one account, and its latest turn."""

    def __init__(self) -> None:
        self.client = StatefulClient(bytes(16))
        self.turn: Turn | None = None
        self.passed = b""

    def step(self, do: str, given: Any) -> Any:
        """Calls the client or its turn. Returns the next step."""
        match do:
            case "open":
                self.turn = self.client.open(ACCOUNT, as_bytes(given))
            case "deliver":
                posted = as_bytes({"items": given["items"]})
                self.turn = self.client.deliver(ACCOUNT, given["conversation"], posted)
            case "touched":
                self.client.mark_stale(ACCOUNT, given)
            case "passed":
                return answer_of(self.passed.decode())
            case _:
                assert self.turn, "no turn was opened"
                self.passed = b"" if do == "begun" else self.passed
                if do in ("heard", "ended"):
                    self.passed += hear(self.turn, do, given)
                    return done(self.turn)
                return tell(self.turn, do, given)
        return self.turn and done(self.turn)


def tell(turn: Turn, do: str, given: Any) -> Any:
    match do:
        case "answered":
            turn.record_answer(given["status"], as_bytes(given["body"]))
        case "refused":
            turn.record_rejection(given["status"], as_bytes(given["body"]))
        case "begun":
            turn.start(given, NOW)
        case "left":
            turn.abandon()
        case "report":
            return reported(turn)
        case _:
            raise AssertionError(f'"do": "{do}" is not known')
    return done(turn)


def hear(turn: Turn, do: str, given: Any) -> bytes:
    """Passes an answer to the turn. Returns the bytes for the caller."""
    return turn.push(answer(given), NOW) if do == "heard" else turn.finish(NOW)


def answer_of(text: str) -> Any:
    """The events of an event stream, or the one object of an answer."""
    if text.startswith("{"):
        return json.loads(text)
    data = (line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: "))
    return [json.loads(event) for event in data]


def done(turn: Turn) -> Any:
    """The next step in the cases' format."""
    step = turn.step()
    match step:
        case Ask():
            return {"ask": f"{step.method} {step.path}"}
        case Send():
            return {"send": json.loads(step.body)}
        case GiveUp():
            return "give_up"
    return "nothing"


def reported(turn: Turn) -> dict[str, Any]:
    report = turn.report()
    return {
        "resent": report.resent,
        "mends": [dict(zip(MENDING, mending)) for mending in report.mends],
        "relearned": report.relearned,
        "by_kind": report.by_kind,
    }


def answer(given: Any) -> bytes:
    """The bytes of an answer: a list is an event stream."""
    if isinstance(given, dict):
        return as_bytes(given)
    return b"".join(b"data: " + as_bytes(event) + b"\n\n" for event in given)


def as_bytes(value: Any) -> bytes:
    return json.dumps(value).encode()
