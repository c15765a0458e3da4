"""Agent Framework, with conversations that stay whole.

    from antiphon.agent_framework import OpenAIChatClient

    agent = Agent(client=OpenAIChatClient("gpt-5"), context_providers=[RedisHistoryProvider(...)])

What history providers, sessions and workflows replay beside a conversation or a chain that the server
keeps is told from what it does not have: the model is given each item once. Calls that a run has
left without an output are answered before the next turn.
"""

from typing import Any, Generic, TypeVar

try:
    import agent_framework_openai
    from agent_framework_openai import OpenAIChatOptions, RawOpenAIChatClient
except ImportError as error:
    raise ImportError(
        "antiphon.agent_framework needs Agent Framework: pip install agent-framework-openai"
    ) from error

from typing_extensions import TypeVar as TypeVarWithDefault

import antiphon.openai

__all__ = ["OpenAIChatClient", "whole"]

ChatClient = TypeVar("ChatClient", bound="RawOpenAIChatClient[Any]")

# The framework's own variable is bound by TypedDict, which type checkers accept of no other.
Options = TypeVarWithDefault("Options", default=OpenAIChatOptions[Any], covariant=True)


def whole(client: ChatClient) -> ChatClient:
    """The same chat client, which asks its server by way of `antiphon.openai.whole` from now on.

    For clients that another package makes: of OpenAI, Azure OpenAI and Foundry, wherever they speak
    the Responses API.
    """
    client.client = antiphon.openai.whole(client.client)
    return client


class OpenAIChatClient(
    agent_framework_openai.OpenAIChatClient[Options],
    Generic[Options],
):
    """Agent Framework's `OpenAIChatClient`, with its parameters, which keeps conversations whole."""

    def __init__(self, *args: Any, **options: Any) -> None:
        """As the framework's; `async_client` may be given, and stays as it is."""
        super().__init__(*args, **options)
        whole(self)
