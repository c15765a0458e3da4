"""One run, from its first request to a model to the delivery of its unsent outputs."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

import anyio
from agents import Agent, ModelResponse, RunState
from agents.exceptions import AgentsException, RunErrorDetails
from agents.items import TResponseInputItem
from agents.result import RunResultBase
from agents.run import RunOptions
from openai import AsyncOpenAI

from antiphon.openai import adeliver
from antiphon.openai_agents._client import account_of, client_of, is_stateful
from antiphon.openai_agents._hooks import RecordingHooks
from antiphon.openai_agents._outputs import (
    Outputs,
    UnsentOutputs,
    matching_outputs,
    outputs_of,
)
from antiphon.openai_agents._queue import ConversationBusy, RunQueue, Ticket

logger = logging.getLogger("antiphon")

QUEUE = RunQueue()
UNSENT = UnsentOutputs()

RUNS: ContextVar[tuple["Run", ...]] = ContextVar("antiphon_runs", default=())

DELIVERY_SECONDS = 30.0

STALE_CONNECTIONS = 2
"""The number of connections of closed event loops that a delivery tolerates."""

Known = RunResultBase | RunErrorDetails

Given = str | list[TResponseInputItem] | RunState[Any]


class Run:
    """A run whose conversation the server may store.

    ```text
    waiting -- first request to a model --> running -- finish --> over
                 (waits in the queue)          (delivers outputs that no request has sent)
    ```
    """

    def __init__(
        self, agent: Agent[Any], given: Given, options: RunOptions[Any], line_seconds: float
    ) -> None:
        self.hooks = RecordingHooks(options.get("hooks"), self._before_request)
        self.input = given
        self._parents = RUNS.get()
        self._conversation = conversation_of(given, options.get("conversation_id"))
        self._has_session = options.get("session") is not None
        self._settings = options.get("run_config")
        self._line_seconds = line_seconds
        self._ticket: Ticket | None = None
        self._agent = agent
        if response_id := options.get("previous_response_id"):
            self._continue_from(response_id)

    @contextmanager
    def as_parent(self) -> Iterator[None]:
        """Makes this run a parent of runs that start in the block, for example in tools."""
        token = RUNS.set((*self._parents, self))
        try:
            yield
        finally:
            RUNS.reset(token)

    def holds(self, conversation: str) -> bool:
        """Whether this run is admitted to the conversation, or waits for it."""
        return self._ticket is not None and self._ticket.conversation == conversation

    async def finish(self, outcome: Any) -> None:
        """Delivers the unsent outputs of the run's outcome, which is a result or an exception.

        Logs outputs that cannot be delivered, and never replaces the outcome with an error of its
        own. Cancelling a scope around the run does not interrupt the delivery.
        """
        try:
            with anyio.CancelScope(shield=True):
                await asyncio.wait_for(self._deliver_unsent(known_of(outcome)), DELIVERY_SECONDS)
        except Exception as error:
            logger.warning("could not deliver the outputs of a run: %s", type(error).__name__)
        finally:
            self.release()

    def release(self) -> None:
        """Admits the next run to the conversation, if this one holds it."""
        if self._ticket is not None:
            QUEUE.leave(self._ticket)
            self._ticket = None

    def _continue_from(self, response_id: str) -> None:
        """Prepends the outputs that an earlier run stored for the previous response."""
        client = client_of(self._agent, self._settings)
        if client is not None and not isinstance(self.input, RunState):
            self.input = UNSENT.prepend_to((account_of(client), response_id), self.input)

    async def _before_request(self, agent: Agent[Any]) -> None:
        self._agent = agent
        if self._conversation is not None and self._ticket is None:
            self._ticket = await self._enter(self._conversation)

    async def _enter(self, conversation: str) -> Ticket:
        if any(run.holds(conversation) for run in self._parents):
            raise ConversationBusy(conversation, "is held by the run whose tool started this run")
        return await QUEUE.enter(conversation, self._line_seconds)

    async def _deliver_unsent(self, known: Known | None) -> None:
        response = self.hooks.response or last_response(known)
        if response is None or self._has_session:
            return
        items = known.new_items if known is not None else []
        unsent = matching_outputs(response, [*self.hooks.outputs, *outputs_of(items)])
        client = client_of(self._agent, self._settings) if unsent else None
        if client is None:
            return
        if self._conversation is not None:
            if may_be_resumed(known) and not is_stateful(client):
                return  # Resuming sends them again, and this client would not leave them out.
            await deliver(client, self._conversation, unsent)
        elif response.response_id:
            UNSENT.store((account_of(client), response.response_id), unsent)


async def deliver(client: AsyncOpenAI, conversation: str, outputs: Outputs) -> None:
    """Posts the outputs. Retries are safe: outputs that the conversation holds are left out.

    A connection of a closed event loop in the client's pool fails once, and is then removed.
    """
    for _ in range(STALE_CONNECTIONS):
        with suppress(RuntimeError):
            await adeliver(client, conversation, outputs)
            return
    await adeliver(client, conversation, outputs)


def known_of(outcome: Any) -> Known | None:
    """The SDK's data on a run: its result, or the data in an SDK exception."""
    known = outcome.run_data if isinstance(outcome, AgentsException) else outcome
    return known if isinstance(known, Known) else None


def may_be_resumed(known: Known | None) -> bool:
    """Whether a run ended without a final output."""
    return isinstance(known, RunResultBase) and known.final_output is None


def last_response(known: Known | None) -> ModelResponse | None:
    """The last response of a resumed run that ended before its first request."""
    return known.raw_responses[-1] if known is not None and known.raw_responses else None


def conversation_of(given: Given, conversation_id: str | None) -> str | None:
    """The conversation of a run: from its options, or from the state that it resumes."""
    resumed = getattr(given, "_conversation_id", None) if isinstance(given, RunState) else None
    return conversation_id or resumed
