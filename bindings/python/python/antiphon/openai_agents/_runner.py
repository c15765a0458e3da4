"""The SDK's runner with delivery of unsent outputs."""

import asyncio
from types import NoneType
from typing import Any, ClassVar, cast

import agents
from agents import (
    Agent,
    RunConfig,
    RunErrorHandlers,
    RunHooks,
    RunResult,
    RunResultStreaming,
    RunState,
)
from agents.items import TResponseInputItem
from agents.lifecycle import RunHooksBase
from agents.memory import Session
from agents.run import DEFAULT_MAX_TURNS, RunOptions
from agents.run_context import TContext
from typing_extensions import Unpack

from antiphon.openai_agents._run import Run

Input = str | list[TResponseInputItem] | RunState[TContext]


class Runner(agents.Runner):
    """Runs agents like the SDK's `Runner`, with the same parameters and results.

    With a conversation that a server stores:

    - When a run ends, it posts the outputs that no request has sent to the conversation. This
      includes a final output taken from a tool, `max_turns`, a tool that raises, a cancellation.
    - Runs of one conversation in this process wait for each other, in order of arrival, from their
      first request to a model. A run raises `ConversationBusy` after `line_seconds`.

    With a chain of responses, the next run that continues the response sends the outputs.
    """

    line_seconds: ClassVar[float] = 120.0
    """The time in seconds that a run waits for other runs of its conversation."""

    @classmethod
    async def run(
        cls,
        starting_agent: Agent[TContext],
        input: Input[TContext],
        **options: Unpack[RunOptions[TContext]],
    ) -> RunResult:
        """Does the same as `agents.Runner.run`."""
        run = begin(starting_agent, input, options, cls.line_seconds)
        outcome: Any = None
        try:
            with run.as_parent():
                outcome = await super().run(starting_agent, run.input, **options)
            return cast(RunResult, outcome)
        except BaseException as error:
            outcome = error
            raise
        finally:
            await run.finish(outcome)

    @classmethod
    def run_sync(
        cls,
        starting_agent: Agent[TContext],
        input: Input[TContext],
        **options: Unpack[RunOptions[TContext]],
    ) -> RunResult:
        """Does the same as `agents.Runner.run_sync`."""
        run = begin(starting_agent, input, options, cls.line_seconds)
        outcome: Any = None
        try:
            with run.as_parent():
                outcome = super().run_sync(starting_agent, run.input, **options)
            return cast(RunResult, outcome)
        except BaseException as error:
            outcome = error
            raise
        finally:
            if run.hooks.loop is not None:
                run.hooks.loop.run_until_complete(run.finish(outcome))

    @classmethod
    def run_streamed(
        cls,
        starting_agent: Agent[TContext],
        input: Input[TContext],
        context: TContext | None = None,
        max_turns: int | None = DEFAULT_MAX_TURNS,
        hooks: RunHooks[TContext] | None = None,
        run_config: RunConfig | dict[str, Any] | None = None,
        previous_response_id: str | None = None,
        auto_previous_response_id: bool = False,
        conversation_id: str | None = None,
        session: Session | None = None,
        *,
        error_handlers: RunErrorHandlers[TContext] | None = None,
    ) -> RunResultStreaming:
        """Does the same as `agents.Runner.run_streamed`. The stream ends after the delivery."""
        options = RunOptions[TContext](
            context=context,
            max_turns=max_turns,
            hooks=hooks,
            run_config=run_config,
            previous_response_id=previous_response_id,
            auto_previous_response_id=auto_previous_response_id,
            conversation_id=conversation_id,
            session=session,
            error_handlers=error_handlers,
        )
        run = begin(starting_agent, input, options, cls.line_seconds)
        with run.as_parent():
            result = super().run_streamed(starting_agent, run.input, **options)
        if (loop := result.run_loop_task) is not None:
            result.run_loop_task = with_delivery(loop, result, run)
        return result


def begin(
    agent: Agent[Any], given: Input[Any], options: RunOptions[Any], line_seconds: float
) -> Run:
    """Creates a run and adds its hooks to the options. The SDK rejects hooks of a wrong type."""
    run = Run(agent, given, options, line_seconds)
    if isinstance(options.get("hooks"), (RunHooksBase, NoneType)):
        options["hooks"] = run.hooks
    return run


def with_delivery(
    loop: asyncio.Task[Any], result: RunResultStreaming, run: Run
) -> asyncio.Task[Any]:
    """A task with the outcome of a streamed run's loop. It ends after the delivery of outputs."""

    async def follow() -> None:
        try:
            await loop
        finally:
            await run.finish(result)

    def end_too(_: asyncio.Task[Any]) -> None:
        """Ends the loop too. `follow` does not run if it is cancelled before its first step."""
        loop.cancel()
        loop.add_done_callback(lambda _: run.release())

    following = asyncio.create_task(follow())
    following.add_done_callback(end_too)
    return following
