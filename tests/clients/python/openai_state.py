"""The ways in which a program on the openai library can keep its conversation."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from openai.types.responses import Response

from context import Tenant

Params = dict[str, Any]


@dataclass
class InConversation:
    """The gateway holds the items under a conversation id: only what is new is sent."""

    conversation: str

    def params(self, new: list[Any]) -> Params:
        return {"conversation": self.conversation, "input": new}

    def accept(self, response: Response) -> None:
        assert response.conversation is not None
        assert response.conversation.id == self.conversation


@dataclass
class Chained:
    """The gateway holds the items under the last response: only what is new is sent."""

    last: str | None = None

    def params(self, new: list[Any]) -> Params:
        chain = {"previous_response_id": self.last} if self.last else {}
        return {**chain, "input": new}

    def accept(self, response: Response) -> None:
        assert response.previous_response_id == self.last
        self.last = response.id


@dataclass
class Replayed:
    """The program holds the items, and sends all of them every time, `[*response.output]` too."""

    options: Params
    history: list[Any] = field(default_factory=list)

    def params(self, new: list[Any]) -> Params:
        self.history += new
        return {**self.options, "input": self.history}

    def accept(self, response: Response) -> None:
        self.history += [*response.output]


State = InConversation | Chained | Replayed

# Without stored items and without encrypted content, no server can know what was reasoned.
UNENCRYPTED = "replay_unstored_unencrypted"

STATES: dict[str, Callable[[Tenant], State]] = {
    "conversation": lambda tenant: InConversation(tenant.new_conversation()),
    "previous_response_id": lambda _: Chained(),
    "replay_stored": lambda _: Replayed({}),
    "replay_unstored_encrypted": lambda _: Replayed(
        {"store": False, "include": ["reasoning.encrypted_content"]}
    ),
    UNENCRYPTED: lambda _: Replayed({"store": False}),
}
