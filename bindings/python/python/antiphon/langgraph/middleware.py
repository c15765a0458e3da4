"""Middlewares for LangChain's `create_agent`."""

from collections.abc import Awaitable, Callable
from typing import Any, cast

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain.agents.middleware.types import AgentState, ContextT, ResponseT
from langchain_core.messages import AnyMessage
from langgraph.runtime import Runtime

import antiphon
from antiphon._messages import mended
from antiphon.langgraph.hooks import filter_orphaned_reasoning_messages


class MendHistory(AgentMiddleware[AgentState[ResponseT], ContextT, ResponseT]):
    """Gives the model a history that a provider does not refuse, and leaves the agent's own alone.

    See `mend_history`, which does the same for `create_react_agent`. A call that waits for a human
    is not answered in its place: no model is called while a graph is interrupted. It is, where the
    user goes on without deciding.
    """

    def __init__(self, *, policy: str | None = None) -> None:
        """`policy` is that of `antiphon.repair`, which raises here what it raises for none."""
        super().__init__()
        antiphon.repair((), policy=policy)
        self.policy = policy

    def wrap_model_call(
        self,
        request: ModelRequest[ContextT],
        handler: Callable[[ModelRequest[ContextT]], ModelResponse[ResponseT]],
    ) -> ModelResponse[ResponseT]:
        """Calls the model with the mended history."""
        return handler(self._mended(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[ContextT],
        handler: Callable[[ModelRequest[ContextT]], Awaitable[ModelResponse[ResponseT]]],
    ) -> ModelResponse[ResponseT]:
        """Calls the model with the mended history."""
        return await handler(self._mended(request))

    def _mended(self, request: ModelRequest[ContextT]) -> ModelRequest[ContextT]:
        view = mended(request.messages, self.policy)
        if not view.mends:
            return request
        return request.override(messages=cast(list[AnyMessage], view.messages))


class FilterOrphanedReasoning(AgentMiddleware[AgentState[ResponseT], ContextT, ResponseT]):
    """Removes messages that are nothing but reasoning from the agent's state, for good.

    See `filter_orphaned_reasoning_messages`, which does the same for `create_react_agent`.
    """

    def before_model(
        self, state: AgentState[ResponseT], runtime: Runtime[ContextT]
    ) -> dict[str, Any] | None:
        """Removes what is orphaned before the model is called."""
        return cast(dict[str, Any] | None, filter_orphaned_reasoning_messages(state))

    async def abefore_model(
        self, state: AgentState[ResponseT], runtime: Runtime[ContextT]
    ) -> dict[str, Any] | None:
        """Removes what is orphaned before the model is called."""
        return self.before_model(state, runtime)
