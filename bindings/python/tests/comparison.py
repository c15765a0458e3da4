"""Compares a result with the expected value of a case.

A placeholder `<id 1>` matches any string, the same one at each place, and another than `<id 2>`.
"""

import re
from typing import Any

ANY = re.compile(r"<\w+ \d+>")


def assert_equal(actual: Any, expected: Any) -> None:
    """Asserts that both have the same fields and values."""
    Comparison(whole=True).compare(actual, expected, "")


def assert_named_fields_equal(actual: Any, expected: Any) -> None:
    """Compares only the fields that the case names."""
    Comparison(whole=False).compare(actual, expected, "")


class Comparison:
    """One comparison with the values of its placeholders."""

    def __init__(self, whole: bool) -> None:
        self.whole = whole
        self.ids: dict[str, str] = {}

    def compare(self, actual: Any, expected: Any, path: str) -> None:
        """Raises `AssertionError` with the path of the first difference."""
        if isinstance(expected, str) and ANY.fullmatch(expected):
            self._compare_id(actual, expected, path)
        elif isinstance(expected, list):
            assert isinstance(actual, list), f"{path}: expected a list, got {actual}"
            assert len(actual) == len(expected), f"{path}: wrong length: {actual}"
            for position, (one, other) in enumerate(zip(actual, expected)):
                self.compare(one, other, f"{path}/{position}")
        elif isinstance(expected, dict):
            self._compare_objects(actual, expected, path)
        else:
            same = actual == expected and isinstance(actual, bool) == isinstance(expected, bool)
            assert same, f"{path}: got {actual!r}, expected {expected!r}"

    def _compare_objects(self, actual: Any, expected: dict[str, Any], path: str) -> None:
        assert isinstance(actual, dict), f"{path}: expected an object, got {actual}"
        if self.whole:
            assert set(actual) == set(expected), f"{path}: wrong fields: {actual}"
        for name, value in expected.items():
            self.compare(actual.get(name), value, f"{path}/{name}")

    def _compare_id(self, actual: Any, expected: str, path: str) -> None:
        assert isinstance(actual, str), f"{path}: expected a string, got {actual}"
        for name, stands_for in self.ids.items():
            same = (name == expected) == (stands_for == actual)
            assert same, f"{path}: {expected} is {actual}, {name} is {stands_for}"
        self.ids[expected] = actual
