"""One run, from its first request to a model to what it leaves behind."""

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
from antiphon.openai_agents._client import account_of, client_of, is_whole
from antiphon.openai_agents._hooks import Hearing
from antiphon.openai_agents._line import ConversationBusy, Line, Place
from antiphon.openai_agents._outputs import Outputs, Unsent, answering, outputs_of

logger = logging.getLogger("antiphon")

LINE = Line()
UNSENT = Unsent()

RUNS: ContextVar[tuple["Run", ...]] = ContextVar("antiphon_runs", default=())

DELIVERY_SECONDS = 30.0

CONNECTIONS_OF_OTHER_LOOPS = 2
"""How many of them a delivery goes on behind."""

Known = RunResultBase | RunErrorDetails

Given = str | list[TResponseInputItem] | RunState[Any]


class Run:
    """A run beside a server that may keep its conversation.

    ```text
    waiting -- first request to a model --> running -- leave --> over
                 (stands in line)             (brings home what no request has carried)
    ```
    """

    def __init__(
        self, agent: Agent[Any], given: Given, options: RunOptions[Any], line_seconds: float
    ) -> None:
        self.hooks = Hearing(options.get("hooks"), self._asking)
        self.input = given
        self._starters = RUNS.get()
        self._conversation = conversation_of(given, options.get("conversation_id"))
        self._has_session = options.get("session") is not None
        self._settings = options.get("run_config")
        self._line_seconds = line_seconds
        self._place: Place | None = None
        self._agent = agent
        if response_id := options.get("previous_response_id"):
            self._go_on_from(response_id)

    @contextmanager
    def begun(self) -> Iterator[None]:
        """The runs that begin in the block's context, in tools for instance, know of this one."""
        token = RUNS.set((*self._starters, self))
        try:
            yield
        finally:
            RUNS.reset(token)

    def holds(self, conversation: str) -> bool:
        """Whether others wait for this run before they take a turn in the conversation."""
        return self._place is not None and self._place.conversation == conversation

    async def leave(self, ended: Any) -> None:
        """Brings home what the run ends with: a result, or an exception that knows some of it.

        What cannot be brought home is logged: it never takes the place of the run's own end. The
        cancellation of a scope that the run is in does not reach it.
        """
        try:
            with anyio.CancelScope(shield=True):
                await asyncio.wait_for(self._bring_home(known_of(ended)), DELIVERY_SECONDS)
        except Exception as error:
            logger.warning("outputs of a run could not be delivered: %s", type(error).__name__)
        finally:
            self.give_up_place()

    def give_up_place(self) -> None:
        """Lets the next run into the conversation, if this one holds it."""
        if self._place is not None:
            LINE.leave(self._place)
            self._place = None

    def _go_on_from(self, response_id: str) -> None:
        """Begins with what a run before has left for the response that this one goes on from."""
        client = client_of(self._agent, self._settings)
        if client is not None and not isinstance(self.input, RunState):
            self.input = UNSENT.before((account_of(client), response_id), self.input)

    async def _asking(self, agent: Agent[Any]) -> None:
        self._agent = agent
        if self._conversation is not None and self._place is None:
            self._place = await self._enter(self._conversation)

    async def _enter(self, conversation: str) -> Place:
        if any(run.holds(conversation) for run in self._starters):
            raise ConversationBusy(conversation, "is held by the run whose tool began this one")
        return await LINE.enter(conversation, self._line_seconds)

    async def _bring_home(self, known: Known | None) -> None:
        response = self.hooks.response or last_response(known)
        if response is None or self._has_session:
            return
        items = known.new_items if known is not None else []
        unsent = answering(response, [*self.hooks.outputs, *outputs_of(items)])
        client = client_of(self._agent, self._settings) if unsent else None
        if client is None:
            return
        if self._conversation is not None:
            if may_be_resumed(known) and not is_whole(client):
                return  # It brings them itself, by a client that does not know of them.
            await deliver(client, self._conversation, unsent)
        elif response.response_id:
            UNSENT.keep((account_of(client), response.response_id), unsent)


async def deliver(client: AsyncOpenAI, conversation: str, outputs: Outputs) -> None:
    """Posts the outputs. What of them is there already is left out, however often it is tried.

    A connection that an earlier event loop has left in the client's pool fails once, and is gone.
    """
    for _ in range(CONNECTIONS_OF_OTHER_LOOPS):
        with suppress(RuntimeError):
            await adeliver(client, conversation, outputs)
            return
    await adeliver(client, conversation, outputs)


def known_of(ended: Any) -> Known | None:
    """What the SDK tells of a run: its result, or what an exception of the SDK's knows."""
    known = ended.run_data if isinstance(ended, AgentsException) else ended
    return known if isinstance(known, Known) else None


def may_be_resumed(known: Known | None) -> bool:
    """Whether a run has ended with a result that is not its last word."""
    return isinstance(known, RunResultBase) and known.final_output is None


def last_response(known: Known | None) -> ModelResponse | None:
    """The response that a run goes on from which was paused, and ended before it asked a model."""
    return known.raw_responses[-1] if known is not None and known.raw_responses else None


def conversation_of(given: Given, conversation_id: str | None) -> str | None:
    """The conversation in which a run takes place: the one it is told, or the one it resumes in."""
    resumed = getattr(given, "_conversation_id", None) if isinstance(given, RunState) else None
    return conversation_id or resumed
