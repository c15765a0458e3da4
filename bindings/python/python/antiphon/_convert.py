"""Converts the answer of a model from one API to another."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from antiphon import _native

Dialect = Literal["responses", "chat", "anthropic", "ai-sdk"]
"""The API of an answer. `ai-sdk` is the stream parts of the AI SDK."""

Target = Literal["responses", "chat", "anthropic"]
"""An API to which answers are converted."""

EventNames = Literal["openai", "open-responses"]


@dataclass(frozen=True, slots=True)
class Converted:
    """An answer in another dialect."""

    events: list[dict[str, Any]]
    """The events of the answer as a stream. The last one is terminal."""
    answer: dict[str, Any]
    """The whole answer as one object. It has status `failed` or an `error` if it failed."""
    notes: list[str]
    """A sentence for each correction and omission."""
    error: str | None
    """The fault in the given answer, if it has one: not an answer of its dialect, or cut off."""


def convert(
    answer: str | bytes | Iterable[Any],
    *,
    from_: Dialect,
    to: Target,
    request: Any = None,
    event_names: EventNames = "openai",
) -> Converted:
    """Converts a streamed answer to well-formed events of another dialect, or of its own.

    `answer` is an event stream as sent over HTTP, one JSON object per line, or a list of events:
    dicts or models. Each call is one item with one id, and the last event is terminal, for any
    answer. A faulty answer ends as failed, and `error` names the fault.

    `request` is the answered request in the form of the Responses API, a dict or a model. The
    answer repeats its fields, and it defines the custom tools. `event_names` applies where the
    names of OpenAI and Open Responses differ.

    Raises `TypeError` for an answer of another type, and `ValueError` for an unknown dialect.
    """
    given: str | bytes | list[Any]
    if isinstance(answer, (str, bytes)):
        given = answer
    elif isinstance(answer, Iterable) and not isinstance(answer, Mapping):
        given = list(answer)
    else:
        kind = type(answer).__name__
        raise TypeError(f"answer must be a text, bytes or a list of events, not {kind}")
    now = int(time.time())
    return Converted(*_native.convert(given, from_, to, request, event_names, now))
