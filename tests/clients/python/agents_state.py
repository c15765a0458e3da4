"""The owners of the conversation that the openai-agents library knows.

Each gives a run its input and its options, and takes the result in.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from agents import ModelSettings, OpenAIConversationsSession, SQLiteSession
from agents.memory import Session
from agents.result import RunResultBase
from openai import AsyncOpenAI

from context import LOST_BY_OLDEST, Tenant

Params = dict[str, Any]


@dataclass
class InConversation:
    """The gateway, under a conversation id."""

    conversation: str

    def run_input(self, text: str) -> str:
        return text

    def params(self) -> Params:
        return {"conversation_id": self.conversation}

    def accept(self, result: RunResultBase) -> None:
        pass


@dataclass
class Chained:
    """The gateway, under the last response's id; `automatic` chains a first run's requests too."""

    automatic: bool
    last: str | None = None

    def run_input(self, text: str) -> str:
        return text

    def params(self) -> Params:
        return {"previous_response_id": self.last, "auto_previous_response_id": self.automatic}

    def accept(self, result: RunResultBase) -> None:
        assert result.last_response_id is not None
        self.last = result.last_response_id


@dataclass
class InSession:
    """A session of the library, which replays what it kept."""

    session: Session

    def run_input(self, text: str) -> str:
        return text

    def params(self) -> Params:
        return {"session": self.session}

    def accept(self, result: RunResultBase) -> None:
        pass

    @property
    def conversation(self) -> str | None:
        """The conversation in which the gateway keeps the session's items, if it does."""
        remote = isinstance(self.session, OpenAIConversationsSession)
        return self.session.session_id if remote else None


@dataclass
class Replayed:
    """The program: every run starts from the last one's `to_input_list()`."""

    history: list[Any] = field(default_factory=list)

    def run_input(self, text: str) -> list[Any]:
        return [*self.history, {"role": "user", "content": text}]

    def params(self) -> Params:
        return {}

    def accept(self, result: RunResultBase) -> None:
        self.history = result.to_input_list()


State = InConversation | Chained | InSession | Replayed


@dataclass(frozen=True)
class Way:
    """An owner of the conversation, and the settings of the model beside it."""

    new_state: Callable[[Tenant, AsyncOpenAI], State]
    settings: ModelSettings = field(default_factory=ModelSettings)
    loses: frozenset[str] = frozenset()


UNSTORED = ModelSettings(store=False, response_include=["reasoning.encrypted_content"])


def new_replay(_tenant: Tenant, _client: AsyncOpenAI) -> State:
    return Replayed()


def new_sqlite_session(_tenant: Tenant, _client: AsyncOpenAI) -> State:
    return InSession(SQLiteSession("the only one"))


WAYS = {
    "conversation_id": Way(lambda tenant, _: InConversation(tenant.new_conversation())),
    "previous_response_id": Way(lambda _tenant, _: Chained(automatic=False)),
    "auto_previous_response_id": Way(lambda _tenant, _: Chained(automatic=True)),
    "conversations_session": Way(
        lambda _, client: InSession(OpenAIConversationsSession(openai_client=client)),
        loses=LOST_BY_OLDEST,
    ),
    "sqlite_session": Way(new_sqlite_session),
    "sqlite_session_unstored": Way(new_sqlite_session, UNSTORED),
    "to_input_list": Way(new_replay),
    "to_input_list_unstored": Way(new_replay, UNSTORED),
}
