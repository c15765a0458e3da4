"""`check` and `repair` with Python objects."""

import copy
import pickle
from typing import Any

import antiphon
import pytest
from antiphon import check, filter_orphaned_reasoning, reconcile, repair, strip
from openai import OpenAI
from openai.types.responses import Response, ResponseFunctionToolCall
from provider import Provider

SAID: Any = {"role": "user", "content": "Echo hello"}
REASONING: Any = {"type": "reasoning", "id": "rs_1", "summary": []}
CALL: Any = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_1",
    "name": "echo",
    "arguments": "{}",
}
OUTPUT: Any = {"type": "function_call_output", "call_id": "call_1", "output": "hello"}

TOOL: Any = {"type": "function", "name": "echo", "parameters": {"type": "object"}}


def answered(client: OpenAI) -> Response:
    """An answer of the strict provider: reasoning and a call."""
    return client.responses.create(
        model="sim", input="Echo hello", tools=[TOOL], include=["reasoning.encrypted_content"]
    )


def test_unchanged_items_are_the_same_objects() -> None:
    items = [SAID, REASONING, CALL]
    repaired = repair(items)
    assert [item is given for item, given in zip(repaired.items, items)] == [True] * 3
    assert repaired.items[3]["type"] == "function_call_output"
    assert repaired.items[3]["call_id"] == "call_1"


def test_changed_items_are_new_complete_dicts() -> None:
    odd = {**SAID, "id": "not an id", "number": 2**70}
    repaired = repair([odd])
    assert repaired.items == [{**SAID, "number": 2**70}]
    assert odd["id"] == "not an id"


def test_repair_does_not_modify_its_input() -> None:
    items = [SAID, REASONING, CALL, CALL, OUTPUT, OUTPUT, REASONING]
    before = copy.deepcopy(items)
    for work in (check, repair, filter_orphaned_reasoning, strip):
        work(items)
    strip(items, conversation="conv_1")
    reconcile(items, items)
    assert items == before


def test_repaired_list_has_no_faults() -> None:
    items = [SAID, OUTPUT, CALL, CALL, REASONING]
    assert check(items)
    assert check(repair(items).items) == []
    assert repair(repair(items).items).mends == []


def test_repairs_are_reported() -> None:
    (mend,) = repair([SAID, CALL]).mends
    assert mend == antiphon.Mend(
        position=1,
        id="fc_1",
        fault="unanswered_call",
        action="answered",
        message="No tool output found for function call call_1.",
        code=None,
        param="input",
    )


def test_a_policy_that_rejects_raises_the_fault() -> None:
    with pytest.raises(antiphon.UnansweredCall) as raised:
        repair([SAID, CALL], policy="reject")
    assert str(raised.value) == "No tool output found for function call call_1."
    assert (raised.value.position, raised.value.id) == (1, "fc_1")


def test_unknown_policy_is_named() -> None:
    with pytest.raises(ValueError, match="policy: 'calls=perhaps' is unknown"):
        repair([SAID], policy="calls=perhaps")


def test_list_is_repaired_after_held_items() -> None:
    assert [type(fault) for fault in check([OUTPUT])] == [antiphon.OutputWithoutCall]
    assert check([OUTPUT], held=[SAID, CALL]) == []
    assert repair([OUTPUT], held=[SAID, CALL]).items == [OUTPUT]


def test_sdk_models_are_read_and_returned(provider: Provider) -> None:
    with OpenAI() as client:
        answer = answered(client)
        history: list[Any] = [SAID, *answer.output]

        (fault,) = check(history)
        repaired = repair(history)

        assert isinstance(fault, antiphon.UnansweredCall)
        assert [item is given for item, given in zip(repaired.items, history)] == [True] * 3
        sent: Any = repaired.items
        client.responses.create(model="sim", input=sent, tools=[TOOL])
    assert not provider.refusals()


def test_held_models_are_recognized() -> None:
    call = ResponseFunctionToolCall.model_validate(CALL)
    verdicts = reconcile([SAID, call], [SAID, CALL, OUTPUT])
    assert [verdict.verdict for verdict in verdicts] == ["resent", "resent", "fresh"]
    assert [verdict.is_fresh for verdict in verdicts] == [False, False, True]


def test_results_can_be_pickled() -> None:
    for result in (repair([SAID, CALL]), reconcile([SAID], [SAID, CALL])):
        assert pickle.loads(pickle.dumps(result)) == result
    fault = pickle.loads(pickle.dumps(check([SAID, CALL])[0]))
    assert isinstance(fault, antiphon.UnansweredCall)
    assert (str(fault), fault.position, fault.param) == (fault.message, 1, "input")
