"""A dialogue whose second turn breaks off in the middle, and goes on: a fact, a turn that is left,
a recall.

The upstream stops its answer where the turn is to be left, so that every client leaves there.
"""

import os
from collections import Counter
from dataclasses import dataclass
from typing import Any

from context import ON_ABORT, REASONS, Item, ModelRequest, Tenant, assert_nothing_repeated, kind, text
from dialogue import ECHO, FACT, RECALL


@dataclass(frozen=True)
class Moment:
    """Where a turn is left: where the upstream stops, and what the user has said."""

    place: str
    said: str = ECHO
    # Whether the caller comes back with the output of the call that it heard of.
    late_output: bool = False

    def __str__(self) -> str:
        return f"{self.place}_then_output" if self.late_output else self.place

    def is_told_by(self, event: Any) -> bool:
        """Whether this event of the Responses API is the first that tells of it."""
        match self.place:
            case "in_reasoning":
                return event.type.startswith("response.reasoning") and event.type.endswith(".delta")
            case "in_arguments":
                return event.type == "response.function_call_arguments.delta"
            case "behind_call":
                done = event.type == "response.output_item.done"
                return done and event.item.type == "function_call"
            case _:
                return event.type == "response.output_text.delta"


ENDS_CALLS = os.environ.get("UPSTREAM_ENDS_CALLS", "yes") == "yes"

MOMENTS = [
    *[Moment("in_reasoning")] * REASONS,
    Moment("in_arguments"),
    Moment("in_arguments", late_output=True),
    *[Moment("behind_call"), Moment("behind_call", late_output=True)] * ENDS_CALLS,
    Moment("in_text", said="What is my dog name?"),
]


class ToolFailed(Exception):
    """A local tool fails, and with it the run that called it."""


def failing_tool(text: str) -> str:
    raise ToolFailed(text)


def assert_recalled(answer: str) -> None:
    assert "purple" in answer
    assert "Biscuit" in answer


def assert_gone_on(tenant: Tenant, said: list[str]) -> None:
    """No request was refused for good or repeated anything, and the last has what the user said,
    once, and an output for every call. An API may have joined what the user said. A provider that
    keeps nothing of a turn that is left has no more of it than its client sends again.
    """
    requests = tenant.model_requests()
    assert refused_for_good(requests) == []
    for request in requests:
        assert_well_formed(request)
    heard = "".join(users(requests[-1].items))
    assert heard == "".join(said) or (ON_ABORT == "nothing" and heard == said[0] + said[-1])


def refused_for_good(requests: list[ModelRequest]) -> list[Any]:
    """The refusals. Where a provider keeps the state, one may be all that tells what it has: then the
    gateway sends the turn once more.
    """
    behind = [*requests[1:], None]
    mended = [bool(ON_ABORT and later and not later.refusal) for later in behind]
    pairs = zip(requests, mended, strict=True)
    return [request.refusal for request, is_mended in pairs if request.refusal and not is_mended]


def assert_well_formed(request: ModelRequest) -> None:
    assert_nothing_repeated(request.items)
    calls = Counter(ids_of("function_call", request.items))
    assert Counter(ids_of("function_call_output", request.items)) == calls


def ids_of(wanted: str, items: list[Item]) -> list[str]:
    return [item["call_id"] for item in items if kind(item) == wanted]


def users(items: list[Item]) -> list[str]:
    return [text(item) for item in items if kind(item) == "user"]


def whole_dialogue(moment: Moment) -> list[str]:
    """What the user said in the end."""
    return [FACT, moment.said, RECALL]
