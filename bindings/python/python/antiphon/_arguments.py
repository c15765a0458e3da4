"""Validation of arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def parse_items(argument: str, items: Iterable[Any]) -> list[Any]:
    """Returns the items of an argument. Raises `TypeError` if it is not a list."""
    is_one_value = isinstance(items, (str, bytes, bytearray, Mapping))
    if is_one_value or not isinstance(items, Iterable):
        raise TypeError(f"{argument} must be a list of items, not {type(items).__name__}")
    return list(items)


def parse_occurrences(occurrences: Iterable[int]) -> list[int]:
    """Returns numbers from `Tracker.add`. Raises `TypeError` or `ValueError` for other values."""
    if isinstance(occurrences, (str, bytes)) or not isinstance(occurrences, Iterable):
        kind = type(occurrences).__name__
        raise TypeError(f"occurrences must be a list of numbers from add, not {kind}")
    return [parse_occurrence(number) for number in occurrences]


def parse_occurrence(number: int) -> int:
    """Returns a number that can come from `Tracker.add`."""
    if not isinstance(number, int) or isinstance(number, bool):
        kind = type(number).__name__
        raise TypeError(f"an occurrence must be a number from add, not {kind}")
    if number < 0:
        raise ValueError(f"an occurrence must be a number from add, not {number}")
    return number


def parse_state_id(argument: str, id: str | None) -> str | None:
    """Returns the id of a conversation or response. Raises `TypeError` or `ValueError`."""
    if id is not None and not isinstance(id, str):
        raise TypeError(f"{argument} must be an id (str), not {type(id).__name__}")
    if id == "":
        raise ValueError(f"{argument} must be an id, but is empty")
    return id


def describe(value: object) -> str:
    """Describes a value of the wrong class in an error message."""
    if isinstance(value, type):
        return f"the class {value.__name__} itself"
    return type(value).__name__


def parse_policy(policy: str | None) -> str:
    """Returns the policy, or an empty text for None. Raises `TypeError` if it is not a `str`."""
    if policy is not None and not isinstance(policy, str):
        raise TypeError(f"policy must be a str, not {type(policy).__name__}")
    return policy or ""
