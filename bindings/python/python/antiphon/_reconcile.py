"""What the owner of a conversation has, and what is new."""

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
    """Whether the owner of a conversation has an item. Fields that do not apply are None."""

    verdict: Kind
    """`fresh`: it is new. `fresh_under_used_id`: it is new, and its id is taken. `supersedes`:
    instructions in the place of held ones. `late_output`: the real output of a call that was
    answered with a made-up one. `resent`: it is held. `deleted`: it was. `duplicate`: it stands
    twice in what was given."""
    held: int | None = None
    """The position in what is held."""
    rule: str | None = None
    """By what it is known: `same_id`, `same_call`, `same_instructions` or `replayed`."""
    differs: bool | None = None
    """Whether it says something else than what is held."""
    made_up: int | None = None
    """The position in what is held of the output that was made up."""
    of: int | None = None
    """The position in what was given of the item that it repeats."""

    @property
    def is_fresh(self) -> bool:
        """Whether the owner of the conversation is to be sent the item."""
        return self.verdict in ("fresh", "fresh_under_used_id", "supersedes", "late_output")


def reconcile(held: Iterable[Any], items: Iterable[Any]) -> list[Verdict]:
    """Tells of each of `items` whether the owner of a conversation that holds `held` has it.

    A history that is sent again makes nothing fresh, but for a user's message without an id with
    which it ends: people repeat themselves, and equal text alone never counts.

    Raises what `check` raises.
    """
    return [Verdict(*judged) for judged in _native.reconcile(held, items)]
