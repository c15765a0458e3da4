"""Finds the items of an input that a conversation does not hold yet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from antiphon import _native

Kind = Literal[
    "fresh",
    "fresh_under_used_id",
    "supersedes",
    "late_output",
    "resent",
    "deleted",
    "duplicate",
]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The relation of an item to a conversation. Fields that do not apply are None."""

    verdict: Kind
    """The kind of verdict:

    - `fresh`: the item is new.
    - `fresh_under_used_id`: the item is new, but another item has its id.
    - `supersedes`: the item is new instructions that replace held ones.
    - `late_output`: the real output of a call that holds a placeholder output.
    - `resent`: the conversation holds the item.
    - `deleted`: the conversation held the item, and it was deleted.
    - `duplicate`: the input contains the item twice."""
    held: int | None = None
    """The position of the matching item in `held`."""
    rule: str | None = None
    """The rule that matched: `same_id`, `same_call`, `same_instructions` or `replayed`."""
    differs: bool | None = None
    """Whether the content differs from the held item's."""
    made_up: int | None = None
    """The position of the placeholder output in `held`."""
    of: int | None = None
    """The position in `items` of the item that this one repeats."""

    @property
    def is_fresh(self) -> bool:
        """Whether the conversation needs the item."""
        return self.verdict in ("fresh", "fresh_under_used_id", "supersedes", "late_output")


def reconcile(held: Iterable[Any], items: Iterable[Any]) -> list[Verdict]:
    """Returns a verdict for each of `items`: whether a conversation with the items `held` has it.

    No item of a resent history is fresh, except a user's message without an id at its end: users
    repeat themselves, so equal text alone does not make two messages the same.

    Raises the same exceptions as `check`.
    """
    return [Verdict(*judged) for judged in _native.reconcile(held, items)]
