"""The faults that a provider rejects in a list of items: one class for each kind.

`str(fault)`, `code` and `param` are the provider's own error message, code and parameter.
"""

from __future__ import annotations

from typing import Any, ClassVar

__all__ = [
    "DuplicateCall",
    "DuplicateItem",
    "DuplicateOutput",
    "EmptyCallId",
    "Fault",
    "ForeignContent",
    "LoneReasoning",
    "MalformedId",
    "MissingCallId",
    "MissingId",
    "MissingReasoning",
    "OutputWithoutCall",
    "OverlongCallId",
    "OverlongId",
    "ResentItem",
    "UnansweredCall",
    "UnresolvedReference",
]


class Fault(Exception):
    """A fault of an item. `check` returns faults; `repair` raises one if the `policy` rejects it.

    `position` is the item's position from 0, or None for an item that the server holds. `id` is the
    item's id, if it has one. `message`, `code` and `param` are those of the provider's `error`
    object.
    """

    name: ClassVar[str] = "fault"
    """The kind of the fault, as in headers, reports and logs."""

    def __init__(
        self,
        message: str,
        position: int | None = None,
        id: str | None = None,
        code: str | None = None,
        param: str | None = None,
    ) -> None:
        super().__init__(message, position, id, code, param)
        self.message = message
        self.position = position
        self.id = id
        self.code = code
        self.param = param

    def __str__(self) -> str:
        return self.message


class DuplicateItem(Fault):
    """An item has the id of an earlier item: `Duplicate item found with id …`."""

    name = "duplicate_item"


class DuplicateCall(Fault):
    """A call has the `call_id` of an earlier call."""

    name = "duplicate_call"


class DuplicateOutput(Fault):
    """A call has a second output."""

    name = "duplicate_output"


class UnansweredCall(Fault):
    """A call has no output: `No tool output found for function call …`."""

    name = "unanswered_call"


class OutputWithoutCall(Fault):
    """An output has no call: `No tool call found for function call output with call_id …`."""

    name = "output_without_call"


class LoneReasoning(Fault):
    """Reasoning is `provided without its required following item`."""

    name = "lone_reasoning"


class MissingReasoning(Fault):
    """An item is `provided without its required 'reasoning' item`."""

    name = "missing_reasoning"


class ForeignContent(Fault):
    """Encrypted content comes from another provider, model or account."""

    name = "foreign_content"


class UnresolvedReference(Fault):
    """An `item_reference` names an unknown item: `Item with id '…' not found.`"""

    name = "unresolved_reference"


class MalformedId(Fault):
    """An item's id lacks the prefix of its type."""

    name = "malformed_id"


class OverlongId(Fault):
    """An item's id is longer than the provider allows."""

    name = "overlong_id"


class MissingId(Fault):
    """An item has no id, although its type needs one: `Missing required parameter: '….id'`."""

    name = "missing_id"


class EmptyCallId(Fault):
    """A `call_id` is empty."""

    name = "empty_call_id"


class MissingCallId(Fault):
    """A call or an output has no `call_id`."""

    name = "missing_call_id"


class OverlongCallId(Fault):
    """A `call_id` is longer than the provider allows."""

    name = "overlong_call_id"


class ResentItem(Fault):
    """The server holds the item already. It would accept the item and store it twice."""

    name = "resent_item"


_KINDS = {kind.name: kind for kind in Fault.__subclasses__()}


def new_fault(name: str, *details: Any) -> Fault:
    """Creates a fault of a kind. `details` are the arguments of its class."""
    return _KINDS[name](*details)
