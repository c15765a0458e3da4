"""Classes made over those of the http library that a client's http client is of."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

_NAMES = ("httpx2", "httpx")
"""The http libraries of the SDK: today's, and the one before."""


def library_of(value: object) -> Any:
    """The http library whose class a value is of, be it of a subclass."""
    for base in type(value).__mro__:
        name = base.__module__.partition(".")[0]
        if name in _NAMES:
            return sys.modules[name]
    kind = type(value).__qualname__
    raise TypeError(f"the client's http client is of neither httpx2 nor httpx: {kind}")


@cache
def over(mixin: type, base: type) -> type[Any]:
    """A class of the library's with the methods of the mixin."""
    return type(mixin.__name__, (mixin, base), {"__slots__": (), "__module__": mixin.__module__})
