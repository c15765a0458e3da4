"""Hooks that record the progress of a run."""

from asyncio import AbstractEventLoop, get_running_loop
from collections.abc import Awaitable, Callable
from typing import Any

from agents import Agent, ItemHelpers, ModelResponse, RunHooks, Tool
from agents.items import TResponseInputItem
from agents.run_context import AgentHookContext, RunContextWrapper
from agents.tool_context import ToolContext

from antiphon.openai_agents._outputs import Outputs, call_id_of

Context = RunContextWrapper[Any]


class RecordingHooks(RunHooks[Any]):
    """Records the model's last answer and the outputs of its calls. Calls the run's own hooks too.

    `before_request` is awaited with the agent before every request to a model. `loop` is the run's
    event loop, known after the first event.
    """

    def __init__(
        self, hooks: RunHooks[Any] | None, before_request: Callable[[Agent[Any]], Awaitable[None]]
    ) -> None:
        self._hooks = hooks or RunHooks()
        self._before_request = before_request
        self.loop: AbstractEventLoop | None = None
        self.response: ModelResponse | None = None
        self.outputs: Outputs = []

    async def on_llm_start(
        self,
        context: Context,
        agent: Agent[Any],
        system_prompt: str | None,
        input_items: list[TResponseInputItem],
    ) -> None:
        self.loop = get_running_loop()
        await self._before_request(agent)
        await self._hooks.on_llm_start(context, agent, system_prompt, input_items)

    async def on_llm_end(
        self, context: Context, agent: Agent[Any], response: ModelResponse
    ) -> None:
        self.response = response
        self.outputs = []
        await self._hooks.on_llm_end(context, agent, response)

    async def on_agent_start(self, context: AgentHookContext[Any], agent: Any) -> None:
        await self._hooks.on_agent_start(context, agent)

    async def on_agent_end(self, context: AgentHookContext[Any], agent: Any, output: Any) -> None:
        await self._hooks.on_agent_end(context, agent, output)

    async def on_handoff(self, context: Context, from_agent: Any, to_agent: Any) -> None:
        await self._hooks.on_handoff(context, from_agent, to_agent)

    async def on_tool_start(self, context: Context, agent: Any, tool: Tool) -> None:
        await self._hooks.on_tool_start(context, agent, tool)

    async def on_tool_end(self, context: Context, agent: Any, tool: Tool, result: object) -> None:
        self.loop = get_running_loop()
        if isinstance(context, ToolContext) and context.tool_call is not None:
            self._record(ItemHelpers.tool_call_output_item(context.tool_call, result))
        await self._hooks.on_tool_end(context, agent, tool, result)

    def _record(self, output: Any) -> None:
        if call_id_of(output):
            self.outputs.append(output)
