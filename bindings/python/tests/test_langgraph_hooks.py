"""Agents with faulty histories, without and with the hooks and middlewares."""

import asyncio
from typing import Annotated, Any

import openai
import pytest
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.message import add_messages
from langgraph.types import Command, interrupt
from pydantic import BaseModel

from antiphon.langgraph import (
    FilterOrphanedReasoning,
    MendHistory,
    filter_orphaned_reasoning_messages,
    mend_history,
)
from langchain_story import ECHO, FACT, MODEL, RECALL, echo, hold_dialogue, kinds
from langgraph_story import AGENTS, DELIVERIES, THREAD, said
from provider import Provider

NOTHING_FOLLOWS = (
    r"Item 'rs_\w+' of type 'reasoning' was provided without its required following item"
)
WHOLE: dict[str, dict[str, Any]] = {
    "create_agent": {"middleware": [MendHistory()]},
    "create_react_agent": {"pre_model_hook": mend_history},
}
FILTERED: dict[str, dict[str, Any]] = {
    "create_agent": {"middleware": [FilterOrphanedReasoning()]},
    "create_react_agent": {"pre_model_hook": filter_orphaned_reasoning_messages},
}


@tool
def fail(text: str) -> str:
    """Raises an error."""
    raise OSError(text)


@tool
def approve(text: str) -> str:
    """Returns the text if a human approves."""
    return text if interrupt("May I?") else "No."


fail.name = approve.name = "echo"


def make_agent(agents: str, tool: Any = echo, **options: Any) -> Any:
    model = ChatOpenAI(model=MODEL, use_responses_api=True)
    return AGENTS[agents](model, [tool], checkpointer=InMemorySaver(), **options)


def messages(agent: Any) -> list[Any]:
    return list(agent.get_state(THREAD).values["messages"])


def broken_off(provider: Provider) -> AIMessage:
    """The reasoning of a stream that was aborted in the call after it."""
    provider.hold("in_arguments")
    model = ChatOpenAI(model=MODEL, use_responses_api=True).bind_tools([echo])
    stream: Any = model.stream(ECHO)
    heard = next(stream)
    while not heard.tool_call_chunks:
        heard += next(stream)
    stream.close()
    return AIMessage([block for block in heard.content if block["type"] == "reasoning"])


def holds_lone_reasoning(agent: Any) -> bool:
    by_model: list[Any] = [each for each in messages(agent) if isinstance(each, AIMessage)]
    return any({block["type"] for block in each.content} == {"reasoning"} for each in by_model)


@pytest.mark.parametrize("agents", AGENTS)
class TestACheckpointThatEndsInLoneReasoning:
    """The message that a stream aborted in the model's reasoning leaves."""

    def agent(self, provider: Provider, agents: str, **options: Any) -> Any:
        agent = make_agent(agents, **options)
        agent.invoke(said(FACT), THREAD)
        left = [HumanMessage(ECHO), broken_off(provider)]
        agent.update_state(THREAD, {"messages": left})
        assert holds_lone_reasoning(agent)
        return agent

    def test_it_is_refused_without(self, provider: Provider, agents: str) -> None:
        agent = self.agent(provider, agents)
        with pytest.raises(openai.BadRequestError, match=NOTHING_FOLLOWS):
            agent.invoke(said(RECALL), THREAD)

    @pytest.mark.parametrize("delivery", DELIVERIES)
    def test_it_is_filtered_for_good(
        self, provider: Provider, loop: asyncio.Runner, agents: str, delivery: str
    ) -> None:
        agent = self.agent(provider, agents, **FILTERED[agents])

        answer = DELIVERIES[delivery](agent, loop)(RECALL)

        assert answer == "purple, Biscuit"
        assert not holds_lone_reasoning(agent)
        assert provider.twice() == provider.refusals() == []

    @pytest.mark.parametrize("delivery", DELIVERIES)
    def test_only_the_models_copy_is_repaired(
        self, provider: Provider, loop: asyncio.Runner, agents: str, delivery: str
    ) -> None:
        agent = self.agent(provider, agents, **WHOLE[agents])

        answer = DELIVERIES[delivery](agent, loop)(RECALL)

        assert answer == "purple, Biscuit"
        assert holds_lone_reasoning(agent)
        assert provider.twice() == provider.refusals() == []

    @pytest.mark.parametrize("ways", [FILTERED, WHOLE])
    def test_tools_run_after_a_repair(self, provider: Provider, agents: str, ways: Any) -> None:
        agent = self.agent(provider, agents, **ways[agents])
        assert agent.invoke(said("Echo bye twice"), THREAD)["messages"][-1].text.startswith("echo")
        assert provider.twice() == provider.refusals() == []


@pytest.mark.parametrize("agents", AGENTS)
class TestAToolThatFails:
    """The checkpoint contains the call without an output."""

    def agent(self, agents: str, **options: Any) -> Any:
        agent = make_agent(agents, fail, **options)
        agent.invoke(said(FACT), THREAD)
        with pytest.raises(OSError, match="hello"):
            agent.invoke(said(ECHO), THREAD)
        return agent

    def test_it_is_refused_without(self, provider: Provider, agents: str) -> None:
        """`create_react_agent` raises an error of its own."""
        agent = self.agent(agents)
        theirs = "No tool output found for function call|do not have a corresponding ToolMessage"
        with pytest.raises((openai.BadRequestError, ValueError), match=theirs):
            agent.invoke(said(RECALL), THREAD)

    @pytest.mark.parametrize("delivery", DELIVERIES)
    def test_it_is_answered_in_the_view(
        self, provider: Provider, loop: asyncio.Runner, agents: str, delivery: str
    ) -> None:
        agent = self.agent(agents, **WHOLE[agents])

        answer = DELIVERIES[delivery](agent, loop)(RECALL)

        assert answer == "purple, Biscuit"
        assert "function_call_output" in kinds(provider.turns()[-1])
        assert not any(isinstance(message, ToolMessage) for message in messages(agent))
        assert provider.twice() == provider.refusals() == []


@pytest.mark.parametrize("agents", AGENTS)
class TestAHistoryThatHoldsATurnTwice:
    """As if a client sends its full history to a graph that already has it."""

    def agent(self, agents: str, **options: Any) -> Any:
        agent = make_agent(agents, **options)
        turn = agent.invoke(said(ECHO), THREAD)["messages"][1:]
        again = [message.model_copy(update={"id": None}) for message in turn]
        agent.update_state(THREAD, {"messages": again})
        return agent

    def test_it_is_refused_without(self, provider: Provider, agents: str) -> None:
        agent = self.agent(agents)
        with pytest.raises(openai.BadRequestError, match="Duplicate item found with id rs_"):
            agent.invoke(said(FACT), THREAD)

    def test_the_model_is_given_it_once(self, provider: Provider, agents: str) -> None:
        agent = self.agent(agents, **WHOLE[agents])

        agent.invoke(said(FACT), THREAD)

        turn = ["user", "reasoning", "function_call", "function_call_output", "assistant"]
        assert kinds(provider.turns()[-1]) == [*turn, "user"]
        assert provider.twice() == provider.refusals() == []


@pytest.mark.parametrize("agents", AGENTS)
def test_waiting_tool_gets_no_placeholder(
    provider: Provider, agents: str
) -> None:
    agent = make_agent(agents, approve, **WHOLE[agents])
    agent.invoke(said(FACT), THREAD)
    assert "__interrupt__" in agent.invoke(said(ECHO), THREAD)

    answer = agent.invoke(Command(resume=True), THREAD)["messages"][-1].text

    assert answer == "echo said: hello"
    [output] = [item for item in provider.turns()[-1] if item["type"] == "function_call_output"]
    assert output["output"] == "hello"
    assert provider.twice() == provider.refusals() == []


@pytest.mark.parametrize("agents", AGENTS)
def test_undecided_tool_gets_a_placeholder(
    provider: Provider, agents: str
) -> None:
    agent = make_agent(agents, approve, **WHOLE[agents])
    agent.invoke(said(FACT), THREAD)
    agent.invoke(said(ECHO), THREAD)

    assert agent.invoke(said(RECALL), THREAD)["messages"][-1].text == "purple, Biscuit"

    assert "function_call_output" in kinds(provider.turns()[-1])
    assert provider.twice() == provider.refusals() == []


@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_a_human_in_the_loop_decides(provider: Provider, decision: str) -> None:
    human = HumanInTheLoopMiddleware(interrupt_on={"echo": True})
    agent = make_agent("create_agent", middleware=[human, MendHistory()])
    assert "__interrupt__" in agent.invoke(said(ECHO), THREAD)

    agent.invoke(Command(resume={"decisions": [{"type": decision}]}), THREAD)

    outputs = [item for item in provider.turns()[-1] if item["type"] == "function_call_output"]
    assert len(outputs) == 1
    assert (outputs[0]["output"] == "hello") == (decision == "approve")
    assert provider.twice() == provider.refusals() == []


class PydanticState(BaseModel):
    messages: Annotated[list[AnyMessage], add_messages]
    remaining_steps: int = 25


def test_a_state_may_be_a_pydantic_model(provider: Provider) -> None:
    """LangGraph requires `llm_input_messages` for such a state; the filter returns none."""
    options = {"state_schema": PydanticState, **WHOLE["create_react_agent"]}
    agent = make_agent("create_react_agent", **options)
    agent.invoke(said(FACT), THREAD)
    agent.update_state(THREAD, {"messages": [HumanMessage(ECHO), broken_off(provider)]})

    assert agent.invoke(said(RECALL), THREAD)["messages"][-1].text == "purple, Biscuit"
    assert provider.twice() == provider.refusals() == []


@pytest.mark.parametrize("version", ["v0", "v1", "responses/v1"])
@pytest.mark.parametrize("delivery", DELIVERIES)
def test_messages_of_every_form_are_in_order(
    provider: Provider,
    loop: asyncio.Runner,
    caplog: pytest.LogCaptureFixture,
    delivery: str,
    version: str,
) -> None:
    model = ChatOpenAI(model=MODEL, use_responses_api=True, output_version=version)
    options = {"middleware": [MendHistory()], "checkpointer": InMemorySaver()}
    agent = AGENTS["create_agent"](model, [echo], **options)

    hold_dialogue(DELIVERIES[delivery](agent, loop))

    assert "mended" not in caplog.text
    assert provider.twice() == provider.refusals() == []


def test_valid_request_is_not_changed(provider: Provider) -> None:
    plain = AGENTS["create_agent"](ChatOpenAI(model=MODEL, use_responses_api=True), [echo])
    whole = AGENTS["create_agent"](
        ChatOpenAI(model=MODEL, use_responses_api=True), [echo], middleware=[MendHistory()]
    )

    for agent in (plain, whole):
        assert agent.invoke(said(ECHO))["messages"][-1].text == "echo said: hello"

    sent = [kinds(items) for items in provider.sent()]
    assert sent[:2] == sent[2:]
