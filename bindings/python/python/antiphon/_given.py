"""Arguments that are not what they are to be, named before anything is done with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def items_in(argument: str, items: Iterable[Any]) -> list[Any]:
    """The items of an argument. Raises `TypeError` where it is no list of them."""
    is_one_value = isinstance(items, (str, bytes, bytearray, Mapping))
    if is_one_value or not isinstance(items, Iterable):
        raise TypeError(f"{argument} is to be a list of items, not {type(items).__name__}")
    return list(items)


def occurrences_in(occurrences: Iterable[int]) -> list[int]:
    """Numbers that `Tracker.add` has given. Raises `TypeError` or `ValueError` for what are none."""
    if isinstance(occurrences, (str, bytes)) or not isinstance(occurrences, Iterable):
        kind = type(occurrences).__name__
        raise TypeError(f"occurrences is to be a list of the numbers that add gives, not {kind}")
    return [occurrence_of(number) for number in occurrences]


def occurrence_of(number: int) -> int:
    """A number that `Tracker.add` may have given."""
    if not isinstance(number, int) or isinstance(number, bool):
        kind = type(number).__name__
        raise TypeError(f"an occurrence is a number that add gives, not {kind}")
    if number < 0:
        raise ValueError(f"an occurrence is a number that add gives, not {number}")
    return number


def state_id(argument: str, id: str | None) -> str | None:
    """The id of what a server keeps, if one is given. Raises `TypeError` or `ValueError`."""
    if id is not None and not isinstance(id, str):
        raise TypeError(f"{argument} is to be an id, a str, not {type(id).__name__}")
    if id == "":
        raise ValueError(f"{argument} is to be an id, and is empty")
    return id


def described(value: object) -> str:
    """A value that is not of the class it is to be of, for an error's sentence."""
    if isinstance(value, type):
        return f"the class {value.__name__} itself"
    return type(value).__name__


def policy_of(policy: str | None) -> str:
    """The policy, empty where none is given. Raises `TypeError` where it is no text."""
    if policy is not None and not isinstance(policy, str):
        raise TypeError(f"policy is to be a str, not {type(policy).__name__}")
    return policy or ""
