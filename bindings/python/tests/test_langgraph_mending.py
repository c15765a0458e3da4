"""`mend_history`: the messages for the model, and the unchanged state."""

import logging
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_openai.chat_models.base import _construct_responses_api_input

import antiphon
from antiphon.langgraph import mend_history

RULES = SystemMessage("Be brief.")
HI = HumanMessage("hi", id="h1")
BYE = HumanMessage("bye", id="h2")


def reasoning(name: str = "rs_1") -> dict[str, Any]:
    return {"type": "reasoning", "id": name, "summary": []}


def text(said: str = "Noted.", name: str = "msg_1") -> dict[str, Any]:
    return {"type": "text", "text": said, "annotations": [], "id": name}


def call_block(number: int = 1) -> dict[str, Any]:
    ids = {"id": f"fc_{number}", "call_id": f"call_{number}"}
    return {"type": "function_call", "name": "echo", "arguments": '{"text":"hello"}', **ids}


def tool_call(number: int = 1) -> Any:
    call = {"name": "echo", "args": {"text": "hello"}, "id": f"call_{number}"}
    return {"type": "tool_call", **call}


def calling(*numbers: int, name: str = "resp_1") -> AIMessage:
    """A message with reasoning and calls, as `ChatOpenAI` returns it."""
    blocks: list[Any] = [reasoning(), *(call_block(number) for number in numbers)]
    return AIMessage(blocks, tool_calls=[tool_call(number) for number in numbers], id=name)


def output(number: int = 1, said: str = "hello") -> ToolMessage:
    return ToolMessage(said, tool_call_id=f"call_{number}")


def mended(*messages: BaseMessage, policy: str | None = None) -> list[BaseMessage]:
    """The repaired messages. Asserts that the input does not change."""
    before = [message.model_copy(deep=True) for message in messages]
    view = mend_history({"messages": list(messages)}, policy=policy)
    assert list(messages) == before
    assert mend_history({"messages": view["llm_input_messages"]}) == view
    return view["llm_input_messages"]


def assert_same(found: list[BaseMessage], *expected: BaseMessage) -> None:
    """Asserts that the lists contain the same objects."""
    assert [id(message) for message in found] == [id(message) for message in expected], found


def test_valid_history_is_returned_unchanged() -> None:
    answer = AIMessage([text()], id="resp_2")
    history = [RULES, HI, calling(1), output(1), answer, BYE]
    assert_same(mended(*history), *history)


def test_placeholder_follows_its_call() -> None:
    call = calling(1)
    rules, hi, still, made, bye = mended(RULES, HI, call, BYE)

    assert_same([rules, hi, still, bye], RULES, HI, call, BYE)
    assert isinstance(made, ToolMessage)
    assert (made.tool_call_id, made.name, made.status) == ("call_1", "echo", "error")
    assert made.text


def test_of_parallel_calls_the_unanswered_one_is_answered() -> None:
    call, given = calling(1, 2), output(2)
    view = mended(HI, call, given, BYE)

    assert_same([view[0], view[1], view[3], view[4]], HI, call, given, BYE)
    assert isinstance(view[2], ToolMessage)
    assert view[2].tool_call_id == "call_1"


def test_placeholders_follow_their_own_messages() -> None:
    one, two = AIMessage("", tool_calls=[tool_call(1)]), AIMessage("", tool_calls=[tool_call(2)])

    first, answer, second, other, _ = mended(one, two, BYE)

    assert_same([first, second], one, two)
    assert isinstance(answer, ToolMessage) and isinstance(other, ToolMessage)
    assert (answer.tool_call_id, answer.name) == ("call_1", "echo")
    assert (other.tool_call_id, other.name) == ("call_2", "echo")


def test_a_late_output_keeps_its_call() -> None:
    history = [HI, calling(1), BYE, output(1)]
    assert_same(mended(*history), *history)


def test_calls_of_other_providers_are_answered_too() -> None:
    use = {"type": "tool_use", "id": "toolu_1", "name": "echo", "input": {}}
    contents: list[Any] = ["", "Let me see.", [{"type": "text", "text": "Let me see."}, use]]
    for content in contents:
        call = AIMessage(content, tool_calls=[{**tool_call(), "id": "toolu_1"}])
        still, made, _ = mended(call, BYE)
        assert still is call
        assert isinstance(made, ToolMessage)
        assert made.tool_call_id == "toolu_1"


def test_invalid_json_call_gets_a_placeholder() -> None:
    """A stream that was aborted in a call's arguments leaves invalid JSON."""
    broken: Any = {"name": "echo", "args": '{"te', "id": "call_1", "error": "no JSON"}
    call = AIMessage("", invalid_tool_calls=[{"type": "invalid_tool_call", **broken}])

    still, made, _ = mended(call, BYE)

    assert still is call
    assert isinstance(made, ToolMessage)
    assert (made.tool_call_id, made.name) == ("call_1", "echo")


def test_custom_call_gets_a_custom_output() -> None:
    block = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": "code"}
    call = AIMessage([{**block, "input": "1 + 1"}], tool_calls=[{**tool_call(), "name": "code"}])

    view = mended(call, BYE)

    sent = _construct_responses_api_input(view)
    assert [item["type"] for item in sent] == [
        "custom_tool_call",
        "custom_tool_call_output",
        "message",
    ]
    assert sent[1]["call_id"] == "call_1"


def test_output_without_a_call_is_removed() -> None:
    assert_same(mended(HI, output(7), BYE), HI, BYE)


def test_repeated_output_is_removed() -> None:
    call, given = calling(1), output(1)
    assert_same(mended(HI, call, given, output(1)), HI, call, given)


def test_of_two_outputs_the_later_goes() -> None:
    call, later = calling(1), output(1, "bye")
    assert_same(mended(HI, call, output(1), later), HI, call, later)


def test_repeated_messages_are_removed() -> None:
    call, given, answer = calling(1), output(1), AIMessage("Noted.", id="run-1")
    history = [HI, call, given, answer]
    assert_same(mended(*history, *history, BYE), *history, BYE)


def test_a_user_may_say_the_same_thing_twice() -> None:
    yes, yes_again = HumanMessage("yes"), HumanMessage("yes")
    other = HumanMessage("yes", id="h3")
    assert_same(mended(HI, yes, yes_again, other), HI, yes, yes_again, other)


def test_messages_that_share_an_id_and_differ_stay() -> None:
    history = [HumanMessage("one", id="h"), HumanMessage("two", id="h")]
    assert_same(mended(*history), *history)


def test_orphaned_reasoning_is_removed() -> None:
    assert_same(mended(HI, AIMessage([reasoning("rs_9")], id="resp_9"), BYE), HI, BYE)


def test_reasoning_that_an_answer_follows_stays() -> None:
    history = [HI, AIMessage([reasoning()]), AIMessage([text()]), BYE]
    assert_same(mended(*history), *history)


def test_only_faulty_parts_are_removed() -> None:
    first = AIMessage([text("One.", "msg_1")], id="resp_1")
    second = AIMessage([text("One.", "msg_1"), text("Two.", "msg_2")], id="resp_2", name="agent")

    hi, kept, copy = mended(HI, first, second)

    assert_same([hi, kept], HI, first)
    assert copy == second.model_copy(update={"content": [text("Two.", "msg_2")]})


def test_trailing_reasoning_is_removed_from_its_message() -> None:
    broken_off = AIMessage([text(), reasoning("rs_9")], id="resp_1")

    _, copy, _ = mended(HI, broken_off, BYE)

    assert copy == broken_off.model_copy(update={"content": [text()]})


def test_repeated_call_in_a_message_is_removed() -> None:
    """A model sent the same call twice."""
    call = AIMessage([call_block(), call_block()], tool_calls=[tool_call(), tool_call()])

    copy, still = mended(call, given := output(1))

    assert still is given
    assert copy.content == [call_block()]
    assert copy.tool_calls == [tool_call()]  # type: ignore[attr-defined]


def test_overlong_call_id_is_replaced_in_both_items() -> None:
    long = "call_" + "x" * 80
    block = {**call_block(), "call_id": long}
    call = AIMessage([block], tool_calls=[{**tool_call(), "id": long}])

    copy, answer = mended(call, ToolMessage("hello", tool_call_id=long))

    assert isinstance(copy, AIMessage) and isinstance(answer, ToolMessage)
    name = answer.tool_call_id
    assert len(name) <= 64
    assert copy.content == [{**block, "call_id": name}]
    assert copy.tool_calls == [{**tool_call(), "id": name}]
    assert answer.content == "hello"


def test_malformed_id_is_removed() -> None:
    block = {**call_block(), "id": "call_1"}
    call = AIMessage([block], tool_calls=[tool_call()])

    copy, _ = mended(call, output(1))

    expected = {key: value for key, value in block.items() if key != "id"}
    assert copy.content == [expected]


def test_langchain_ids_are_not_provider_ids() -> None:
    for content in (
        {"encrypted_content": "gAAAA"},
        {"content": [{"type": "reasoning_text", "text": "Hm."}]},
    ):
        thought = {**reasoning("lc_rs_1"), **content}
        history = [AIMessage([thought, {**text(), "id": "lc_1"}]), BYE]
        assert_same(mended(*history), *history)


def test_reasoning_without_provider_id_and_content_is_dropped() -> None:
    answer, _ = mended(AIMessage([reasoning("lc_rs_1"), text()]), BYE)
    assert answer.content == [text()]


def test_the_standard_blocks_of_langchain_are_understood() -> None:
    thought = {"type": "reasoning", "id": "rs_1", "reasoning": "Hm."}
    block = {"type": "tool_call", "id": "call_1", "name": "echo", "args": {"text": "hello"}}
    call = AIMessage([thought, {**thought, "reasoning": "Aha."}, block], tool_calls=[tool_call()])
    history = [HI, call, output(1), BYE]

    assert_same(mended(*history), *history)
    assert_same(mended(HI, AIMessage([thought, thought]), BYE), HI, BYE)


def test_reasoning_in_the_old_form_is_understood() -> None:
    orphan = AIMessage([], additional_kwargs={"reasoning": reasoning()}, id="msg_1")
    call = AIMessage([], additional_kwargs={"reasoning": reasoning()}, tool_calls=[tool_call()])

    assert_same(mended(HI, orphan, BYE), HI, BYE)
    assert_same(mended(call, given := output(1)), call, given)


def test_removed_call_is_hidden_from_chat_completions() -> None:
    raw = {"id": "call_1", "type": "function", "function": {"name": "echo", "arguments": "{}"}}
    call = AIMessage("Hm.", tool_calls=[tool_call()], additional_kwargs={"tool_calls": [raw]})

    copy, _ = mended(call, BYE, policy="drop")

    assert isinstance(copy, AIMessage)
    assert (copy.content, copy.tool_calls) == ("Hm.", [])
    assert copy.additional_kwargs == {"tool_calls": []}


def test_empty_messages_stay() -> None:
    history = [AIMessage(""), AIMessage([]), HumanMessage(""), HumanMessage([])]
    assert_same(mended(*history), *history)


def test_pictures_and_answers_to_approvals_stay() -> None:
    picture = {"type": "image", "base64": "aGk=", "mime_type": "image/png"}
    asked = {"type": "mcp_approval_request", "id": "mcpr_1", "name": "send", "arguments": "{}"}
    approval = {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True}
    shown: list[BaseMessage] = [
        HumanMessage(["Look:", picture], id="h1"),
        AIMessage([asked], id="resp_1"),
        HumanMessage([approval], id="h2"),
    ]
    assert_same(mended(*shown), *shown)


def test_policy_may_reject_a_fault() -> None:
    with pytest.raises(antiphon.Fault, match="No tool output found for function call call_1"):
        mend_history({"messages": [HI, calling(1), BYE]}, policy="reject")


def test_repairs_are_logged_without_content(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "antiphon")
    mended(HumanMessage("My color is purple"), calling(1), BYE)

    assert "No tool output found for function call call_1" in caplog.text
    assert "purple" not in caplog.text
