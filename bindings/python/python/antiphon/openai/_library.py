"""Creates subclasses of the http library that a client uses."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

_NAMES = ("httpx2", "httpx")
"""The http libraries of the SDK: the current one and its predecessor."""


def library_of(value: object) -> Any:
    """Returns the http library that defines a value's class or one of its base classes."""
    for base in type(value).__mro__:
        name = base.__module__.partition(".")[0]
        if name in _NAMES:
            return sys.modules[name]
    kind = type(value).__qualname__
    raise TypeError(f"the http client must be one of httpx2 or httpx, not {kind}")


@cache
def over(mixin: type, base: type) -> type[Any]:
    """Returns a subclass of `base` with the methods of the mixin."""
    return type(mixin.__name__, (mixin, base), {"__slots__": (), "__module__": mixin.__module__})
