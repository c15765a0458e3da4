"""Agent Framework with correct conversation state.

    from antiphon.agent_framework import OpenAIChatClient

    agent = Agent(client=OpenAIChatClient("gpt-5"), context_providers=[RedisHistoryProvider(...)])

History providers, sessions and workflows resend items that the server already stores in a
conversation or a chain. The client sends only the new items, so the model reads each item once. If
a run left a call without an output, the client adds a placeholder output before the next turn.
"""

from typing import Any, Generic, TypeVar

try:
    import agent_framework_openai
    from agent_framework_openai import OpenAIChatOptions, RawOpenAIChatClient
except ImportError as error:
    raise ImportError(
        "antiphon.agent_framework needs Agent Framework: pip install agent-framework-openai"
    ) from error

from openai import AsyncOpenAI
from typing_extensions import TypeVar as TypeVarWithDefault

import antiphon.openai
from antiphon._arguments import describe

__all__ = ["OpenAIChatClient", "stateful", "whole"]

ChatClient = TypeVar("ChatClient", bound="RawOpenAIChatClient[Any]")

# The framework binds its own type variable to TypedDict. Type checkers reject that elsewhere.
Options = TypeVarWithDefault("Options", default=OpenAIChatOptions[Any], covariant=True)


def stateful(client: ChatClient) -> ChatClient:
    """Wraps a chat client in place: it sends requests through `antiphon.openai.stateful`.

    Use it if another package creates the client. The client must be a `RawOpenAIChatClient`;
    raises `TypeError` otherwise. Returns the same client.
    """
    if not isinstance(client, RawOpenAIChatClient):
        kind = describe(client)
        raise TypeError(f"client must be a RawOpenAIChatClient of Agent Framework, not {kind}")
    client.client = antiphon.openai.stateful(client.client)
    return client


whole = stateful
"""An alias of `stateful`."""


class OpenAIChatClient(agent_framework_openai.OpenAIChatClient[Options], Generic[Options]):
    """Agent Framework's `OpenAIChatClient`, which sends each item to its conversation once."""

    @property
    def client(self) -> AsyncOpenAI:
        """The openai client, wrapped by `antiphon.openai.stateful`."""
        return self._stateful_client

    @client.setter
    def client(self, client: AsyncOpenAI) -> None:
        self._stateful_client = antiphon.openai.stateful(client)
