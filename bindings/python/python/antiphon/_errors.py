"""Exceptions other than faults."""

from __future__ import annotations


class Unreadable(ValueError):
    """An argument is a list, but one of its values is not an item.

    `argument` is its name. `position` is the position of that value, or None if no single value is
    at fault.
    """

    def __init__(self, message: str, argument: str, position: int | None) -> None:
        super().__init__(message, argument, position)
        self.argument = argument
        self.position = position

    def __str__(self) -> str:
        return str(self.args[0])


class TrackerError(Exception):
    """A tracker rejects an operation, and has not changed.

    `name` is the reason: `options`, `conflicting_options`, `no_server_state`, `unreadable`,
    `not_planned`, `twice`, `ambiguous_rebuild`, `not_in_flight`, `failed`, `finished` or
    `snapshot`.
    """

    def __init__(self, message: str, name: str) -> None:
        super().__init__(message, name)
        self.name = name

    def __str__(self) -> str:
        return str(self.args[0])
