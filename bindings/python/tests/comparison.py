"""How what comes is held against what a case wants: `<id 1>` stands for any string, the same one
wherever it stands, and another one than `<id 2>`."""

import re
from typing import Any

ANY = re.compile(r"<\w+ \d+>")


def same_whole(came: Any, wanted: Any) -> None:
    """Both have the same fields."""
    Comparison(whole=True).compare(came, wanted, "")


def same_named(came: Any, wanted: Any) -> None:
    """Of every object the fields that the case names."""
    Comparison(whole=False).compare(came, wanted, "")


class Comparison:
    """One comparison, and what its placeholders were found to stand for."""

    def __init__(self, whole: bool) -> None:
        self.whole = whole
        self.ids: dict[str, str] = {}

    def compare(self, came: Any, wanted: Any, path: str) -> None:
        """Raises `AssertionError` with the place of the first difference."""
        if isinstance(wanted, str) and ANY.fullmatch(wanted):
            self._compare_id(came, wanted, path)
        elif isinstance(wanted, list):
            assert isinstance(came, list), f"{path}: no list came, but {came}"
            assert len(came) == len(wanted), f"{path}: its length; came {came}"
            for position, (one, other) in enumerate(zip(came, wanted)):
                self.compare(one, other, f"{path}/{position}")
        elif isinstance(wanted, dict):
            self._compare_objects(came, wanted, path)
        else:
            same = came == wanted and isinstance(came, bool) == isinstance(wanted, bool)
            assert same, f"{path}: came {came!r}, wanted {wanted!r}"

    def _compare_objects(self, came: Any, wanted: dict[str, Any], path: str) -> None:
        assert isinstance(came, dict), f"{path}: no object came, but {came}"
        if self.whole:
            assert set(came) == set(wanted), f"{path}: its fields; came {came}"
        for name, value in wanted.items():
            self.compare(came.get(name), value, f"{path}/{name}")

    def _compare_id(self, came: Any, wanted: str, path: str) -> None:
        assert isinstance(came, str), f"{path}: no string came, but {came}"
        for name, stands_for in self.ids.items():
            same = (name == wanted) == (stands_for == came)
            assert same, f"{path}: {wanted} is {came}, {name} is {stands_for}"
        self.ids[wanted] = came
