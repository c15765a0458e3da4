"""The SDK's runner, whose runs leave no conversation broken."""

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
    """Runs agents as the SDK's `Runner` does, with its parameters and its results.

    Beside a conversation that a server keeps:

    - However a run ends (a final output taken from a tool, `max_turns`, a tool that raises, a
      cancellation), the outputs that no request has carried are posted to the conversation.
    - Runs of one conversation in this process wait for each other, in order of arrival, from their
      first request to a model on; `ConversationBusy` is raised after `line_seconds`.

    Beside a chain of responses, the outputs go with the next run that goes on from the response.
    """

    line_seconds: ClassVar[float] = 120.0
    """How long a run waits for others of its conversation."""

    @classmethod
    async def run(
        cls,
        starting_agent: Agent[TContext],
        input: Input[TContext],
        **options: Unpack[RunOptions[TContext]],
    ) -> RunResult:
        """As `agents.Runner.run`."""
        run = begin(starting_agent, input, options, cls.line_seconds)
        ended: Any = None
        try:
            with run.begun():
                ended = await super().run(starting_agent, run.input, **options)
            return cast(RunResult, ended)
        except BaseException as error:
            ended = error
            raise
        finally:
            await run.leave(ended)

    @classmethod
    def run_sync(
        cls,
        starting_agent: Agent[TContext],
        input: Input[TContext],
        **options: Unpack[RunOptions[TContext]],
    ) -> RunResult:
        """As `agents.Runner.run_sync`."""
        run = begin(starting_agent, input, options, cls.line_seconds)
        ended: Any = None
        try:
            with run.begun():
                ended = super().run_sync(starting_agent, run.input, **options)
            return cast(RunResult, ended)
        except BaseException as error:
            ended = error
            raise
        finally:
            if run.hooks.loop is not None:
                run.hooks.loop.run_until_complete(run.leave(ended))

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
        """As `agents.Runner.run_streamed`. Its stream ends once the outputs are delivered."""
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
        with run.begun():
            result = super().run_streamed(starting_agent, run.input, **options)
        if (loop := result.run_loop_task) is not None:
            result.run_loop_task = followed(loop, result, run)
        return result


def begin(
    agent: Agent[Any], given: Input[Any], options: RunOptions[Any], line_seconds: float
) -> Run:
    """A run that hears of itself through the options' hooks. What are none, the SDK refuses."""
    run = Run(agent, given, options, line_seconds)
    if isinstance(options.get("hooks"), (RunHooksBase, NoneType)):
        options["hooks"] = run.hooks
    return run


def followed(loop: asyncio.Task[Any], result: RunResultStreaming, run: Run) -> asyncio.Task[Any]:
    """A task that ends as the loop of a streamed run does, once what it leaves is brought home."""

    async def follow() -> None:
        try:
            await loop
        finally:
            await run.leave(result)

    def end_too(_: asyncio.Task[Any]) -> None:
        """A task that is cancelled before its first step does nothing of the above."""
        loop.cancel()
        loop.add_done_callback(lambda _: run.give_up_place())

    following = asyncio.create_task(follow())
    following.add_done_callback(end_too)
    return following
