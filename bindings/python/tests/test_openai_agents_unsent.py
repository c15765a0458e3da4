"""The store of unsent outputs for chains of responses."""

from typing import Any

from antiphon.openai_agents._outputs import UnsentOutputs


def output(call_id: str, text: str = "hello") -> Any:
    return {"type": "function_call_output", "call_id": call_id, "output": text}


def test_oldest_responses_are_dropped_first() -> None:
    unsent = UnsentOutputs(responses=2)
    for name in ("resp_1", "resp_2", "resp_3"):
        unsent.store(("ours", name), [output(f"call_of_{name}")])

    assert unsent.prepend_to(("ours", "resp_1"), "Hello") == "Hello"
    assert unsent.prepend_to(("ours", "resp_3"), "Hello") == [
        output("call_of_resp_3"),
        {"role": "user", "content": "Hello"},
    ]


def test_stored_outputs_are_bounded() -> None:
    unsent = UnsentOutputs(characters=1_000)
    unsent.store(("ours", "resp_1"), [output("call_1")])
    unsent.store(("ours", "resp_2"), [output("call_2", "long " * 180)])

    assert unsent.prepend_to(("ours", "resp_1"), "Hello") == "Hello"
    assert unsent.prepend_to(("ours", "resp_2"), "Hello") != "Hello"

    unsent.store(("ours", "resp_3"), [output("call_3", "longer " * 180)])

    assert unsent.prepend_to(("ours", "resp_3"), "Hello") == "Hello"


def test_other_accounts_find_no_outputs() -> None:
    unsent = UnsentOutputs()
    unsent.store(("ours", "resp_1"), [output("call_1")])

    assert unsent.prepend_to(("theirs", "resp_1"), "Hello") == "Hello"
