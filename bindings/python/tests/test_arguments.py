"""Invalid arguments: the error names them, and nothing changes."""

import json
from collections.abc import Callable
from typing import Any

import antiphon
import pytest
from antiphon import Tracker, TrackerError

SAID: Any = {"role": "user", "content": "Echo hello"}
MESSAGE: Any = {"type": "message", "role": "assistant", "id": "msg_1", "content": []}
ANSWER: Any = {"id": "resp_1", "output": [MESSAGE], "error": None, "status": "completed"}


@pytest.mark.parametrize("policy", [0, 3, ["repair"]])
def test_policy_must_be_a_str(policy: Any) -> None:
    with pytest.raises(TypeError, match="^policy must be a str, not "):
        antiphon.repair([SAID], policy=policy)


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({"conversation": 3}, TypeError, "^conversation must be an id .*, not int$"),
        ({"conversation": ["conv_1"]}, TypeError, "^conversation must be an id .*, not list$"),
        ({"previous_response_id": {}}, TypeError, "^previous_response_id must be .*, not dict$"),
        ({"policy": 3}, TypeError, "^policy must be a str, not int$"),
        ({"conversation": "conv_1", "policy": "answers=lose"}, ValueError, "'answers=lose'"),
    ],
)
def test_strip_rejects_other_state(options: Any, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        antiphon.strip([SAID], **options)


@pytest.mark.parametrize("items", [None, {}, SAID, "hi", 3])
def test_items_must_be_a_list(items: Any) -> None:
    tracker = Tracker(conversation="conv_1")
    sentence = f"^items must be a list of items, not {type(items).__name__}$"
    adding: list[Callable[[Any], object]] = [tracker.add, antiphon.check, antiphon.strip]
    for take in adding:
        with pytest.raises(TypeError, match=sentence):
            take(items)
    assert tracker.plan().items == []


@pytest.mark.parametrize("name", ["conversation", "previous_response_id"])
@pytest.mark.parametrize(("given", "error"), [(3, TypeError), ({}, TypeError), ("", ValueError)])
def test_state_id_must_be_a_nonempty_str(name: str, given: Any, error: type[Exception]) -> None:
    options: Any = {name: given}
    with pytest.raises(error, match=f"^{name} must be an id"):
        Tracker(**options)


@pytest.mark.parametrize(
    ("given", "error"),
    [([-1], ValueError), (["0"], TypeError), ([True], TypeError), ("0", TypeError)],
)
def test_occurrences_must_be_numbers(given: Any, error: type[Exception]) -> None:
    tracker = Tracker(conversation="conv_1")
    tracker.add([SAID])
    with pytest.raises(error, match="numbers? from add, not "):
        tracker.send(given)
    assert tracker.plan().items == [SAID]
    assert tracker.unresolved().attempts == []


async def nothing() -> None:
    """A coroutine, as from a call without `await`."""


@pytest.mark.parametrize("response", [None, {}, "answer", [], {"id": None, "output": None}])
def test_other_values_are_not_responses(response: Any) -> None:
    assert_not_accepted(response, TypeError, "^response must be a response object")


def test_unawaited_response_is_rejected() -> None:
    coroutine = nothing()
    assert_not_accepted(coroutine, TypeError, "with id or output, not coroutine$")
    coroutine.close()


@pytest.mark.parametrize(
    "response",
    [{"error": {"message": "Overloaded."}}, {**ANSWER, "status": "failed"}],
)
def test_failed_response_is_rejected(response: Any) -> None:
    error = assert_not_accepted(response, TrackerError, "call rewind instead of accept$")
    assert isinstance(error, TrackerError) and error.name == "failed"


@pytest.mark.parametrize("response", [ANSWER, {"id": "resp_1"}, {"output": [MESSAGE]}])
def test_responses_are_accepted(response: Any) -> None:
    tracker = Tracker(conversation="conv_1")
    tracker.accept(tracker.send(tracker.add([SAID])), response)
    assert tracker.turns == 1 and tracker.unresolved().attempts == []


def assert_not_accepted(response: Any, error: type[Exception], sentence: str) -> Exception:
    """Returns the error. The request is still open, and its items can be sent again."""
    tracker = Tracker(auto_previous_response_id=True)
    attempt = tracker.send(tracker.add([SAID]))
    before = tracker.to_json()
    with pytest.raises(error, match=sentence) as raised:
        tracker.accept(attempt, response)
    assert tracker.to_json() == before
    tracker.rewind(attempt)
    assert tracker.plan().items == [SAID]
    return raised.value


@pytest.mark.parametrize("answer", [7, None, {"choices": []}])
def test_other_values_are_not_answers(answer: Any) -> None:
    with pytest.raises(TypeError, match="^answer must be a text, bytes or a list of events, not "):
        antiphon.convert(answer, from_="chat", to="responses")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"from_": "ollama", "to": "responses"}, "^from: 'ollama' is none of"),
        ({"from_": "chat", "to": "ai-sdk"}, "^to: cannot convert to 'ai-sdk'"),
        ({"from_": "chat", "to": "responses", "event_names": "azure"}, "^event_names: 'azure'"),
        ({"from_": "chat", "to": "responses", "request": []}, "^request: not a JSON object"),
    ],
)
def test_unknown_conversions_are_rejected(options: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        antiphon.convert("", **options)


@pytest.mark.parametrize("kind", [str, str.encode, lambda text: [json.loads(text)]])
def test_an_answer_has_many_forms(kind: Any) -> None:
    chunk = '{"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}]}'
    converted = antiphon.convert(kind(chunk), from_="chat", to="responses")
    assert converted.answer["output"][0]["content"][0]["text"] == "Hi"
    assert converted.error is None
