"""Checks and repairs lists of items."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, overload

from antiphon import _native
from antiphon._arguments import parse_items, parse_policy
from antiphon.faults import Fault, new_fault

Given = TypeVar("Given")

Param = TypeVar("Param", bound=Mapping[str, object])
"""A dict, such as the openai SDK's `ResponseInputItemParam`: new items are dicts too."""

Kept = TypeVar("Kept")


@dataclass(frozen=True, slots=True)
class Mend:
    """One repair: the item's position, its fault, and the action."""

    position: int | None
    """The item's position in the input; None for an item that the server holds."""
    id: str | None
    """The item's id, if it has one."""
    fault: str
    """The kind of the fault, such as `lone_reasoning`: the `name` of its class."""
    action: str
    """The action, such as `dropped` or `answered`."""
    message: str
    """The provider's error text for this fault."""
    code: str | None
    """The provider's `error.code`."""
    param: str | None
    """The provider's `error.param`."""


@dataclass(frozen=True, slots=True)
class Repaired(Generic[Kept]):
    """A list that a provider accepts, and the repairs that led to it."""

    items: list[Kept]
    """The items. An unchanged item is the same object as in the input; a changed or added item is
    a new dict."""
    mends: list[Mend]
    """The repairs in the order of the items. Empty if the input had no fault."""


def check(items: Iterable[Any], held: Iterable[Any] | None = None) -> list[Fault]:
    """Returns the faults that a provider would reject in `items`, in the provider's order.

    Items are dicts or the openai SDK's models, in any mixture: the `input` of a request, or the
    items of a conversation. With `held`, the items that a server already holds, `items` are
    checked as an input that follows them.

    Raises `Unreadable` if a value is not an item. Raises `TypeError` or `ValueError` if an item
    contains a value that JSON cannot express; the message names its path.
    """
    return [new_fault(*found) for found in _native.check(items, held)]


@overload
def repair(
    items: Iterable[Param], held: Iterable[Any] | None = None, policy: str | None = None
) -> Repaired[Param]: ...
@overload
def repair(
    items: Iterable[Given], held: Iterable[Any] | None = None, policy: str | None = None
) -> Repaired[Given | dict[str, Any]]: ...
def repair(
    items: Iterable[Any], held: Iterable[Any] | None = None, policy: str | None = None
) -> Repaired[Any]:
    """Repairs `items`, so that a provider accepts them; with `held`, as an input after those items.

    `check` finds no fault in the result. Valid items and their order do not change, and the input
    is not modified. A second repair changes nothing.

    `policy` chooses the action for faults with more than one possible repair. `repair`, the
    default, adds a placeholder output to an unanswered call; `drop` removes the call; `reject`
    raises its `Fault`, and does the same for lone reasoning, outputs without a call and missing
    ids. To change single actions, list them, separated by commas, also after one of these words:
    `calls=answer|drop|reject`,
    `reasoning=drop|reject`, `outputs=drop|keep|reject`, `references=keep|drop|reject`,
    `answers=keep|drop`, `ids=add|drop|reject`.

    Raises the same exceptions as `check`, `ValueError` for an unknown policy, and `TypeError` if
    the policy is not a `str`.
    """
    return _as_repaired(_native.repair(items, held, parse_policy(policy)))


@overload
def filter_orphaned_reasoning(items: Iterable[Param]) -> Repaired[Param]: ...
@overload
def filter_orphaned_reasoning(items: Iterable[Given]) -> Repaired[Given | dict[str, Any]]: ...
def filter_orphaned_reasoning(items: Iterable[Any]) -> Repaired[Any]:
    """Removes reasoning without the item that must follow it, and nothing else.

    A provider rejects such reasoning with `Item 'rs_…' of type 'reasoning' was provided without
    its required following item.`
    """
    return _as_repaired(_native.filter_orphaned_reasoning(items))


@overload
def strip(
    items: Iterable[Param],
    *,
    conversation: str | Mapping[str, object] | None = None,
    previous_response_id: str | None = None,
    policy: str | None = None,
) -> Repaired[Param]: ...
@overload
def strip(
    items: Iterable[Given],
    *,
    conversation: str | Mapping[str, object] | None = None,
    previous_response_id: str | None = None,
    policy: str | None = None,
) -> Repaired[Given | dict[str, Any]]: ...
def strip(
    items: Iterable[Any],
    *,
    conversation: str | Mapping[str, object] | None = None,
    previous_response_id: str | None = None,
    policy: str | None = None,
) -> Repaired[Any]:
    """Removes items that the server already has, if its items are unknown.

    `conversation` and `previous_response_id` are those of the request. Without either, the server
    has nothing, and the items stay as they are.

    Removes the items that only servers issue: calls, reasoning, approval requests, lists of MCP
    tools, outputs of programs, and outputs of tool searches that the server ran. Keeps messages
    (including the model's), outputs, references and unknown types.

    An approval or a local shell's output stays unless an assistant message follows it, or the MCP
    call that it allowed: the server then has it. With `policy="answers=drop"` these are always
    removed, new ones too.

    If the server's items are known, use `reconcile`.
    """
    given, words = parse_items("items", items), parse_policy(policy)
    if _native.marker(_state_of(conversation, previous_response_id)) is None:
        return Repaired(given, [])
    return _as_repaired(_native.strip(given, words))


def _state_of(
    conversation: str | Mapping[str, object] | None, previous_response_id: str | None
) -> str:
    """The fields of a request that name the server's state, as JSON."""
    if conversation is not None and not isinstance(conversation, (str, Mapping)):
        kind = type(conversation).__name__
        raise TypeError(f"conversation must be an id (str) or a dict with an id, not {kind}")
    if previous_response_id is not None and not isinstance(previous_response_id, str):
        kind = type(previous_response_id).__name__
        raise TypeError(f"previous_response_id must be an id (str), not {kind}")
    if isinstance(conversation, Mapping):
        conversation = dict(conversation)
    return json.dumps(
        {"conversation": conversation, "previous_response_id": previous_response_id}
    )


def _as_repaired(result: tuple[list[Any], list[Any]]) -> Repaired[Any]:
    items, mends = result
    return Repaired(items, [Mend(*mend) for mend in mends])
