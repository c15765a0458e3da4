"""What is kept of outputs for chains of responses, and for how long."""

from typing import Any

from antiphon.openai_agents._outputs import Unsent


def output(call_id: str, text: str = "hello") -> Any:
    return {"type": "function_call_output", "call_id": call_id, "output": text}


def test_the_responses_that_were_left_first_go_first() -> None:
    unsent = Unsent(responses=2)
    for name in ("resp_1", "resp_2", "resp_3"):
        unsent.keep(("ours", name), [output(f"call_of_{name}")])

    assert unsent.before(("ours", "resp_1"), "Hello") == "Hello"
    assert unsent.before(("ours", "resp_3"), "Hello") == [
        output("call_of_resp_3"),
        {"role": "user", "content": "Hello"},
    ]


def test_outputs_take_no_more_room_than_they_may() -> None:
    unsent = Unsent(characters=1_000)
    unsent.keep(("ours", "resp_1"), [output("call_1")])
    unsent.keep(("ours", "resp_2"), [output("call_2", "long " * 180)])

    assert unsent.before(("ours", "resp_1"), "Hello") == "Hello"
    assert unsent.before(("ours", "resp_2"), "Hello") != "Hello"

    unsent.keep(("ours", "resp_3"), [output("call_3", "longer " * 180)])

    assert unsent.before(("ours", "resp_3"), "Hello") == "Hello"


def test_another_account_finds_nothing() -> None:
    unsent = Unsent()
    unsent.keep(("ours", "resp_1"), [output("call_1")])

    assert unsent.before(("theirs", "resp_1"), "Hello") == "Hello"
