"""Values that are items, and the errors for others."""

import json
from collections import OrderedDict, UserDict, UserList, deque
from collections.abc import Iterator, Mapping
from enum import Enum, IntEnum
from types import MappingProxyType
from typing import Any

import antiphon
import pytest
from antiphon import Tracker
from openai.types.responses import ResponseFunctionToolCall
from pydantic import BaseModel, Field


def written(value: Any) -> str:
    """The JSON text of a value for the engine, from a tracker's snapshot."""
    tracker = Tracker(conversation="conv_1")
    tracker.add([{"type": "custom", "value": value}])
    entry = json.loads(tracker.to_json())["entries"][0]
    text = entry["item"] if isinstance(entry["item"], str) else json.dumps(entry["item"])
    return text


def value_of(value: Any) -> Any:
    """The same text, parsed."""
    return json.loads(written(value))["value"]


class Color(str, Enum):
    RED = "red"


class Size(IntEnum):
    LARGE = 3


class Plain(Mapping[str, Any]):
    def __getitem__(self, key: str) -> Any:
        return {"a": 1}[key]

    def __iter__(self) -> Iterator[str]:
        return iter(["a"])

    def __len__(self) -> int:
        return 1


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        False,
        0,
        -1,
        2**63 - 1,
        -(2**63),
        2**64,
        -(10**400),
        0.1,
        1e16,
        1e-7,
        5e-324,
        -0.0,
        1.7976931348623157e308,
        "",
        "plain",
        'a "quoted" \\ text\n\r\t\b\f\x00\x1f\x7f',
        "half a pair \ud83c of surrogates \udfb6",
        {"\udfff": 1},
        "é 日本 🎶 \u2028",
        "x" * 31 + '"' + "y" * 33 + "\\" + "z" * 64,
        [],
        {},
        [[], {}, [None]],
        {"": 1, 'a "key"': 2},
    ],
    ids=lambda value: repr(value)[:30],
)
def test_values_are_written_as_json_dumps_writes_them(value: Any) -> None:
    assert json.dumps(value_of(value)) == json.dumps(value)


@pytest.mark.parametrize(
    ("value", "as_json"),
    [
        ((1, 2), [1, 2]),
        (UserList([1]), [1]),
        (range(3), [0, 1, 2]),
        (OrderedDict(b=1), {"b": 1}),
        (UserDict(b=1), {"b": 1}),
        (MappingProxyType({"b": 1}), {"b": 1}),
        (Plain(), {"a": 1}),
        (Color.RED, "red"),
        (Size.LARGE, 3),
        ({Color.RED: 1}, {"red": 1}),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_json_like_values_are_written(value: Any, as_json: Any) -> None:
    assert value_of(value) == as_json


def test_every_character_at_every_place_is_written() -> None:
    for character in map(chr, [*range(0x80), 0x7FF, 0x800, 0xFFFF, 0x10000, 0x10FFFF]):
        for length in (0, 1, 30, 31, 32, 33):
            text = "a" * length + character + "b"
            assert value_of(text) == text


def test_models_are_written_as_the_sdk_sends_them() -> None:
    class Named(BaseModel):
        kept: str = Field(alias="as-named")
        unset: str | None = None
        none: str | None = "x"

    model = Named.model_validate({"as-named": "yes", "none": None})
    assert value_of(model) == {"as-named": "yes", "none": None}
    assert value_of([{"inside": model}]) == [{"inside": {"as-named": "yes", "none": None}}]


@pytest.mark.parametrize(
    ("value", "kind", "message"),
    [
        (float("nan"), ValueError, "items[1].a: NaN is not a JSON number"),
        (float("-inf"), ValueError, "items[1].a: -inf is not a JSON number"),
        ({"b": [0, {"c": b"x"}]}, TypeError, "items[1].a.b[1].c: bytes is not a JSON value"),
        (bytearray(), TypeError, "items[1].a: bytearray is not a JSON value"),
        (memoryview(b""), TypeError, "items[1].a: memoryview is not a JSON value"),
        ({1: 2}, TypeError, "items[1].a: keys must be strings, not int"),
        ({None: 2}, TypeError, "items[1].a: keys must be strings, not NoneType"),
        ({1, 2}, TypeError, "items[1].a: set is not a JSON value"),
        (object(), TypeError, "items[1].a: object is not a JSON value"),
        (iter([]), TypeError, "items[1].a: list_iterator is not a JSON value"),
        (1j, TypeError, "items[1].a: complex is not a JSON value"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_invalid_json_value_is_named_by_path(
    value: Any, kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind) as raised:
        antiphon.check([{"role": "user", "content": "hi"}, {"a": value}])
    assert type(raised.value) is kind
    assert str(raised.value) == message


def test_recursive_value_is_rejected() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(ValueError, match="contains itself, or is nested deeper than 200 levels"):
        antiphon.check([{"type": "custom", "value": endless}])


def test_self_dumping_model_is_rejected() -> None:
    class Endless:
        def model_dump(self, **_: Any) -> Any:
            return self

    with pytest.raises(ValueError, match="contains itself"):
        antiphon.check([Endless()])


def test_model_may_change_its_container() -> None:
    class Meddling:
        def model_dump(self, **_: Any) -> str:
            item["more"] = 1
            entries.clear()
            return "dumped"

    entries: list[Any] = [Meddling(), 2]
    item: dict[str, Any] = {"type": "custom", "entries": entries, "last": 3}
    assert antiphon.check([item]) == []


def test_deep_values_are_written_up_to_the_bound() -> None:
    deep: Any = "x"
    for _ in range(190):
        deep = [deep]
    assert value_of(deep) == deep


def test_model_exception_is_raised() -> None:
    class Broken:
        def model_dump(self, **_: Any) -> Any:
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        antiphon.check([Broken()])


@pytest.mark.parametrize(
    "items",
    [
        {"role": "user", "content": "hi"},
        "items",
        b"[]",
        5,
        None,
        ResponseFunctionToolCall(arguments="{}", call_id="c", name="n", type="function_call"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_single_value_is_rejected(items: Any) -> None:
    with pytest.raises((TypeError, antiphon.Unreadable)):
        antiphon.check(items)


@pytest.mark.parametrize("kind", [list, tuple, deque, iter, UserList])
def test_any_iterable_is_accepted(kind: Any) -> None:
    said = [{"role": "user", "content": "hi"}, {"role": "user", "content": "ho"}]
    repaired = antiphon.repair(kind(said))
    assert [item is given for item, given in zip(repaired.items, said)] == [True, True]


def test_error_names_argument_and_position() -> None:
    with pytest.raises(antiphon.Unreadable, match="^held: item 1: expected an object") as raised:
        antiphon.reconcile([{"role": "user", "content": "hi"}, 7], [])
    assert raised.value.argument == "held"
    assert raised.value.position == 1
    assert isinstance(raised.value, ValueError)
