"""Answers of a server's, told from what is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from antiphon._errors import TrackerError

ANSWER = "response is to be an answer of the server, with id or output"


def answer_of(response: Any) -> Any:
    """The answer, as it is. Raises `TypeError` for what is none, `TrackerError` if it failed."""
    if field(response, "status") == "failed" or field(response, "error") is not None:
        raise TrackerError("response: it failed, so that the request is to be rewound", "failed")
    if field(response, "id") is None and field(response, "output") is None:
        raise TypeError(f"{ANSWER}, not {described(response)}")
    return response


def field(response: Any, name: str) -> Any:
    """What stands under a name in a mapping or a model."""
    if isinstance(response, Mapping):
        return response.get(name)
    return getattr(response, name, None)


def described(response: Any) -> str:
    """What was given instead of an answer, without what it says."""
    kind = type(response).__name__
    return f"{kind} without them" if isinstance(response, Mapping) else kind
