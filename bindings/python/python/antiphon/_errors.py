"""What is raised beside faults."""

from __future__ import annotations


class Unreadable(ValueError):
    """An argument is a list, but not one of items.

    `argument` is its name; `position` that of the value which is no item, where it is one value.
    """

    def __init__(self, message: str, argument: str, position: int | None) -> None:
        super().__init__(message, argument, position)
        self.argument = argument
        self.position = position

    def __str__(self) -> str:
        return str(self.args[0])


class TrackerError(Exception):
    """A tracker does not do what it is asked, and has not changed.

    `name` says why: `options`, `conflicting_options`, `no_server_state`, `unreadable`,
    `not_planned`, `twice`, `ambiguous_rebuild`, `not_in_flight`, `failed`, `finished` or `snapshot`.
    """

    def __init__(self, message: str, name: str) -> None:
        super().__init__(message, name)
        self.name = name

    def __str__(self) -> str:
        return str(self.args[0])
