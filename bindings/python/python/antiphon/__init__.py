"""Keeps an agent's conversation whole."""

from antiphon._native import __version__

__all__ = ["__version__"]
