"""Lists that a provider accepts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, overload

from antiphon import _native
from antiphon._given import policy_of
from antiphon.faults import Fault, fault_of

Given = TypeVar("Given")

Param = TypeVar("Param", bound=Mapping[str, object])
"""A dict, such as the openai SDK's `ResponseInputItemParam`: what is made is a dict as well."""

Kept = TypeVar("Kept")


@dataclass(frozen=True, slots=True)
class Mend:
    """What was mended: where, which fault it was, and what was done about it."""

    position: int | None
    """The item's position in what was given; None for an item that the server holds."""
    id: str | None
    """The item's id, where it has one."""
    fault: str
    """The kind of the fault, such as `lone_reasoning`: the `name` of its class."""
    action: str
    """What was done, such as `dropped` or `answered`."""
    message: str
    """What the provider would have said."""
    code: str | None
    """The provider's `error.code`."""
    param: str | None
    """The provider's `error.param`."""


@dataclass(frozen=True, slots=True)
class Repaired(Generic[Kept]):
    """A list that a provider accepts, and what was done for it."""

    items: list[Kept]
    """The very objects that were given, where they stay as they are; what was changed or made is
    a new dict."""
    mends: list[Mend]
    """In the order of the items. Empty where nothing had to be done."""


def check(items: Iterable[Any], held: Iterable[Any] | None = None) -> list[Fault]:
    """What a provider would refuse in `items`, in the order in which it would name it.

    Items are dicts or the openai SDK's models, mixed as they come: the `input` of a request, or
    what stands in a conversation. With `held`, what a server holds already, `items` are judged as
    what is sent behind it.

    Raises `Unreadable` where a value is no item, and `TypeError` or `ValueError`, with the place in
    it, where one is no JSON.
    """
    return [fault_of(*found) for found in _native.check(items, held)]


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
    """Mends `items`, so that a provider accepts them; with `held`, behind what a server holds.

    Afterwards `check` finds nothing. What is well formed stays as it is, the order too, and nothing
    that was given is changed. Mending twice is mending once.

    `policy` says what becomes of faults that can be mended in more than one way: `repair`, which is
    meant where it is left out, answers an unanswered call; `drop` drops it; `reject` raises its
    `Fault`, as it does for lone reasoning and for outputs without a call. Or it names the choices
    that differ from `repair`: `calls=answer|drop|reject`, `reasoning=drop|reject`,
    `outputs=drop|keep|reject`, `references=keep|drop|reject`, separated by commas.

    Raises what `check` raises, `ValueError` for a policy that is none, `TypeError` for no text.
    """
    return _repaired(_native.repair(items, held, policy_of(policy)))


@overload
def filter_orphaned_reasoning(items: Iterable[Param]) -> Repaired[Param]: ...
@overload
def filter_orphaned_reasoning(items: Iterable[Given]) -> Repaired[Given | dict[str, Any]]: ...
def filter_orphaned_reasoning(items: Iterable[Any]) -> Repaired[Any]:
    """Leaves out reasoning that nothing follows which came of it, and nothing else.

    It is what a provider refuses as `Item 'rs_…' of type 'reasoning' was provided without its
    required following item.`
    """
    return _repaired(_native.filter_orphaned_reasoning(items))


@overload
def strip(items: Iterable[Param]) -> Repaired[Param]: ...
@overload
def strip(items: Iterable[Given]) -> Repaired[Given | dict[str, Any]]: ...
def strip(items: Iterable[Any]) -> Repaired[Any]:
    """Leaves out the kinds of items to which a server that keeps the conversation gives their ids.

    Calls, reasoning, approval requests and their responses, and a local shell's calls and outputs
    are left out, whether or not the server has them. Messages, the model's too, outputs of other
    tools, references and kinds that nobody knows stay, whether or not the server has them.

    It is for a history that is replayed beside `conversation` or `previous_response_id` where
    nobody can tell what the server holds. Where that is known, `reconcile` tells item by item what
    is new.
    """
    return _repaired(_native.strip(items))


def _repaired(mended: tuple[list[Any], list[Any]]) -> Repaired[Any]:
    items, mends = mended
    return Repaired(items, [Mend(*mend) for mend in mends])
