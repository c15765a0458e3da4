"""Checks that a value is a server's response."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

EXPECTED = "response must be a response object with id or output"


def check_response(response: Any) -> Any:
    """Returns the response. Raises `TypeError` for other values."""
    if all(field(response, name) is None for name in ("id", "output", "error")):
        raise TypeError(f"{EXPECTED}, not {describe(response)}")
    return response


def field(response: Any, name: str) -> Any:
    """Reads a field of a mapping or a model."""
    if isinstance(response, Mapping):
        return response.get(name)
    return getattr(response, name, None)


def describe(response: Any) -> str:
    """Describes a value that is not a response, without its content."""
    kind = type(response).__name__
    return f"a {kind} without either" if isinstance(response, Mapping) else kind
