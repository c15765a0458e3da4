"""Agent Framework, with conversations that stay whole.

    from antiphon.agent_framework import OpenAIChatClient

    agent = Agent(client=OpenAIChatClient("gpt-5"), context_providers=[RedisHistoryProvider(...)])

What history providers, sessions and workflows replay beside a conversation or a chain that the
server keeps is told from what it does not have: the model is given each item once. Calls that a run
has left without an output are answered before the next turn.
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
from antiphon._given import described

__all__ = ["OpenAIChatClient", "whole"]

ChatClient = TypeVar("ChatClient", bound="RawOpenAIChatClient[Any]")

# The framework's own variable is bound by TypedDict, which type checkers accept of no other.
Options = TypeVarWithDefault("Options", default=OpenAIChatOptions[Any], covariant=True)


def whole(client: ChatClient) -> ChatClient:
    """The same chat client, which asks its server by way of `antiphon.openai.whole` from now on.

    For clients that another package makes: all that are built on `RawOpenAIChatClient`. Raises
    `TypeError` for others.
    """
    if not isinstance(client, RawOpenAIChatClient):
        kind = described(client)
        raise TypeError(f"whole takes a chat client of Agent Framework's Responses API, not {kind}")
    client.client = antiphon.openai.whole(client.client)
    return client


class OpenAIChatClient(agent_framework_openai.OpenAIChatClient[Options], Generic[Options]):
    """Agent Framework's `OpenAIChatClient`, with its parameters, that keeps conversations whole."""

    @property
    def client(self) -> AsyncOpenAI:
        """The client that it asks with, which is whole, whatever client it was given."""
        return self._whole_client

    @client.setter
    def client(self, client: AsyncOpenAI) -> None:
        self._whole_client = antiphon.openai.whole(client)
