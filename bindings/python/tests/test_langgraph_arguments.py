"""Arguments that the LangGraph hooks and middlewares reject."""

from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from antiphon.langgraph import MendHistory, filter_orphaned_reasoning_messages, mend_history

HOOKS = pytest.mark.parametrize("hook", [mend_history, filter_orphaned_reasoning_messages])


@pytest.mark.parametrize(("policy", "error"), [("dorp", ValueError), (3, TypeError)])
def test_unknown_policy_is_rejected_immediately(policy: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="policy"):
        MendHistory(policy=policy)


@pytest.mark.parametrize("policy", ["reject", "calls=drop,reasoning=drop", None])
def test_policy_is_stored(policy: str | None) -> None:
    assert MendHistory(policy=policy).policy == policy


@HOOKS
@pytest.mark.parametrize("state", [None, [HumanMessage("Hello")], {}])
def test_other_values_are_not_states(hook: Any, state: Any) -> None:
    kind = type(state).__name__
    with pytest.raises(TypeError, match=f"^state must be a graph state with messages, not {kind}$"):
        hook(state)


@HOOKS
def test_messages_that_are_none_of_langchains(hook: Any) -> None:
    given = {"messages": [HumanMessage("Hello"), {"role": "user", "content": "Hello"}]}
    with pytest.raises(TypeError, match=r"^messages\[1\] must be a LangChain message"):
        hook(given)
    with pytest.raises(TypeError, match="^messages must be a list of messages, not str$"):
        hook({"messages": "Hello"})
