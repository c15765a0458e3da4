"""The tracker with Python objects. tests/behaviour covers its decisions."""

from typing import Any

import antiphon
import pytest
from antiphon import Tracker
from openai import OpenAI
from provider import Provider

SAID: Any = {"role": "user", "content": "Echo hello"}
TOOL: Any = {"type": "function", "name": "echo", "parameters": {"type": "object"}}


def test_run_with_a_tool_sends_items_once(provider: Provider) -> None:
    conversation = provider.new_conversation()
    tracker = Tracker(conversation=conversation)
    with OpenAI() as client:
        items: list[Any] = [SAID]
        while items:
            tracker.add(items)
            plan = tracker.plan()
            attempt = tracker.send(plan.occurrences)
            response = client.responses.create(
                model="sim", conversation=plan.conversation, input=plan.items, tools=[TOOL]
            )
            tracker.accept(attempt, response)
            items = [
                {"type": "function_call_output", "call_id": call.call_id, "output": "hello"}
                for call in tracker.unresolved().calls
            ]

    assert tracker.turns == 2
    assert not provider.refusals() and not provider.twice()


def test_planned_items_are_the_added_objects() -> None:
    tracker = Tracker(conversation="conv_1")
    (occurrence,) = tracker.add([SAID])

    assert tracker.plan().items[0] is SAID
    attempt = tracker.send([occurrence])
    assert tracker.standing(occurrence) == ("sent", attempt)
    assert tracker.plan().items == []
    assert tracker.rewind(attempt) == [occurrence]
    assert tracker.plan().items[0] is SAID

    tracker.accept(tracker.send([occurrence]), {"id": "resp_1", "output": []})
    assert tracker.standing(occurrence) == ("accepted", None)
    assert tracker.plan().left_out == [antiphon.LeftOut(occurrence, "accepted")]


def test_saved_tracker_can_be_restored() -> None:
    tracker = Tracker(auto_previous_response_id=True)
    tracker.accept(tracker.send(tracker.add([SAID])), {"id": "resp_1", "output": []})
    tracker.add([{"role": "user", "content": "Again"}])

    restored = Tracker.from_json(tracker.to_json())

    assert restored.previous_response_id == "resp_1"
    assert restored.plan().items == [{"role": "user", "content": "Again"}]
    assert restored.turns == 1


def test_hydrate_takes_the_servers_list() -> None:
    tracker = Tracker(conversation="conv_1")
    occurrence = tracker.add([{**SAID, "id": "msg_1"}])[0]
    tracker.send([occurrence])
    assert tracker.hydrate([{**SAID, "type": "message", "id": "msg_1"}]) == [occurrence]


def test_errors_name_the_cause_and_change_nothing() -> None:
    tracker = Tracker(conversation="conv_1")
    with pytest.raises(antiphon.TrackerError) as unknown:
        tracker.send([7])
    assert unknown.value.name == "not_planned"
    with pytest.raises(antiphon.Unreadable, match="item 0: expected an object"):
        tracker.add([7])
    with pytest.raises(antiphon.TrackerError) as finished:
        tracker.finish()
        tracker.add([SAID])
    assert tracker.is_finished and finished.value.name == "finished"
    with pytest.raises(antiphon.TrackerError, match="^snapshot: "):
        Tracker.from_json("{}")
