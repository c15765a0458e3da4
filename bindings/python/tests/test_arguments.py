"""Arguments that are not what they are to be: each is named, and changes nothing."""

from collections.abc import Callable
from typing import Any

import antiphon
import pytest
from antiphon import Tracker, TrackerError

SAID: Any = {"role": "user", "content": "Echo hello"}
MESSAGE: Any = {"type": "message", "role": "assistant", "id": "msg_1", "content": []}
ANSWER: Any = {"id": "resp_1", "output": [MESSAGE], "error": None, "status": "completed"}


@pytest.mark.parametrize("policy", [0, 3, ["repair"]])
def test_a_policy_that_is_no_text(policy: Any) -> None:
    with pytest.raises(TypeError, match="^policy is to be a str, not "):
        antiphon.repair([SAID], policy=policy)


@pytest.mark.parametrize("items", [None, {}, SAID, "hi", 3])
def test_what_is_no_list_of_items(items: Any) -> None:
    tracker = Tracker(conversation="conv_1")
    sentence = f"^items is to be a list of items, not {type(items).__name__}$"
    adding: list[Callable[[Any], object]] = [tracker.add, antiphon.check]
    for take in adding:
        with pytest.raises(TypeError, match=sentence):
            take(items)
    assert tracker.plan().items == []


@pytest.mark.parametrize("name", ["conversation", "previous_response_id"])
@pytest.mark.parametrize(("given", "error"), [(3, TypeError), ({}, TypeError), ("", ValueError)])
def test_what_is_no_id_of_a_state(name: str, given: Any, error: type[Exception]) -> None:
    options: Any = {name: given}
    with pytest.raises(error, match=f"^{name} is to be an id"):
        Tracker(**options)


@pytest.mark.parametrize(
    ("given", "error"),
    [([-1], ValueError), (["0"], TypeError), ([True], TypeError), ("0", TypeError)],
)
def test_what_is_no_number_of_an_item(given: Any, error: type[Exception]) -> None:
    tracker = Tracker(conversation="conv_1")
    tracker.add([SAID])
    with pytest.raises(error, match="numbers? that add gives, not "):
        tracker.send(given)
    assert tracker.plan().items == [SAID]
    assert tracker.unresolved().attempts == []


async def nothing() -> None:
    """What a call without `await` gives."""


@pytest.mark.parametrize("response", [None, {}, "answer", [], {"id": None, "output": None}])
def test_what_is_no_answer(response: Any) -> None:
    assert_not_accepted(response, TypeError, "^response is to be an answer of the server")


def test_an_answer_that_nobody_awaited() -> None:
    coroutine = nothing()
    assert_not_accepted(coroutine, TypeError, "with id or output, not coroutine$")
    coroutine.close()


@pytest.mark.parametrize(
    "response",
    [{"error": {"message": "Overloaded."}}, {**ANSWER, "status": "failed"}],
)
def test_an_answer_that_failed(response: Any) -> None:
    error = assert_not_accepted(response, TrackerError, "the request is to be rewound$")
    assert isinstance(error, TrackerError) and error.name == "failed"


@pytest.mark.parametrize("response", [ANSWER, {"id": "resp_1"}, {"output": [MESSAGE]}])
def test_an_answer_is_accepted(response: Any) -> None:
    tracker = Tracker(conversation="conv_1")
    tracker.accept(tracker.send(tracker.add([SAID])), response)
    assert tracker.turns == 1 and tracker.unresolved().attempts == []


def assert_not_accepted(response: Any, error: type[Exception], sentence: str) -> Exception:
    """The error. The request is still on its way, and what it contained can be sent again."""
    tracker = Tracker(auto_previous_response_id=True)
    attempt = tracker.send(tracker.add([SAID]))
    before = tracker.to_json()
    with pytest.raises(error, match=sentence) as raised:
        tracker.accept(attempt, response)
    assert tracker.to_json() == before
    tracker.rewind(attempt)
    assert tracker.plan().items == [SAID]
    return raised.value
