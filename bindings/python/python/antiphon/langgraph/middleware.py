"""Middlewares for LangChain's `create_agent`."""

from collections.abc import Awaitable, Callable
from typing import Any, cast

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain.agents.middleware.types import AgentState, ContextT, ResponseT
from langchain_core.messages import AnyMessage
from langgraph.runtime import Runtime

import antiphon
from antiphon._messages import repair_messages
from antiphon.langgraph.hooks import filter_orphaned_reasoning_messages


class MendHistory(AgentMiddleware[AgentState[ResponseT], ContextT, ResponseT]):
    """Gives the model a repaired history. The agent's own history does not change.

    `mend_history` does the same for `create_react_agent`. A call that waits for a human gets no
    placeholder output, because no model is called while a graph is interrupted. It gets one if the
    user continues without a decision.
    """

    def __init__(self, *, policy: str | None = None) -> None:
        """`policy` is the policy of `antiphon.repair`. Raises its errors for an invalid policy."""
        super().__init__()
        antiphon.repair((), policy=policy)
        self.policy = policy

    def wrap_model_call(
        self,
        request: ModelRequest[ContextT],
        handler: Callable[[ModelRequest[ContextT]], ModelResponse[ResponseT]],
    ) -> ModelResponse[ResponseT]:
        """Calls the model with the repaired history."""
        return handler(self._repaired(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[ContextT],
        handler: Callable[[ModelRequest[ContextT]], Awaitable[ModelResponse[ResponseT]]],
    ) -> ModelResponse[ResponseT]:
        """Calls the model with the repaired history."""
        return await handler(self._repaired(request))

    def _repaired(self, request: ModelRequest[ContextT]) -> ModelRequest[ContextT]:
        view = repair_messages(request.messages, self.policy)
        if not view.mends:
            return request
        return request.override(messages=cast(list[AnyMessage], view.messages))


class FilterOrphanedReasoning(AgentMiddleware[AgentState[ResponseT], ContextT, ResponseT]):
    """Permanently removes messages that contain only reasoning from the agent's state.

    `filter_orphaned_reasoning_messages` does the same for `create_react_agent`.
    """

    def before_model(
        self, state: AgentState[ResponseT], runtime: Runtime[ContextT]
    ) -> dict[str, Any] | None:
        """Removes orphaned reasoning before the model is called."""
        return cast(dict[str, Any] | None, filter_orphaned_reasoning_messages(state))

    async def abefore_model(
        self, state: AgentState[ResponseT], runtime: Runtime[ContextT]
    ) -> dict[str, Any] | None:
        """Removes orphaned reasoning before the model is called."""
        return self.before_model(state, runtime)
