"""The openai clients of the SDK's models."""

from hashlib import sha256
from typing import Any, cast

from agents import Agent, Model, ModelProvider, OpenAIProvider, RunConfig, set_default_openai_client
from openai import AsyncOpenAI

from antiphon._arguments import describe
from antiphon.openai import stateful

Settings = RunConfig | dict[str, Any] | None


def install(client: AsyncOpenAI | None = None, *, use_for_tracing: bool = True) -> AsyncOpenAI:
    """Wraps a client and makes it the SDK's default for models that are given by name.

    Without a client, creates one from the environment. Returns the wrapped client, for sessions
    and for `conversations.create`.
    """
    installed = stateful(async_client(client))
    set_default_openai_client(installed, use_for_tracing=use_for_tracing)
    return installed


def provider(client: AsyncOpenAI | None = None) -> OpenAIProvider:
    """A model provider with a wrapped client: `RunConfig(model_provider=provider(client))`."""
    return OpenAIProvider(openai_client=stateful(async_client(client)))


def async_client(client: AsyncOpenAI | None) -> AsyncOpenAI:
    """Returns the client, or one from the environment. Raises `TypeError` for other values."""
    if client is None:
        return AsyncOpenAI()
    if not isinstance(client, AsyncOpenAI):
        raise TypeError(f"the SDK needs an AsyncOpenAI client, not {describe(client)}")
    return client


def client_of(agent: Agent[Any], settings: Settings) -> AsyncOpenAI | None:
    """The openai client of an agent's model. None if the model uses another API."""
    model = setting(settings, "model") or agent.model
    if not isinstance(model, Model):
        models = cast(
            ModelProvider, setting(settings, "model_provider") or RunConfig().model_provider
        )
        model = models.get_model(model)
    client = getattr(model, "_client", None)
    return client if isinstance(client, AsyncOpenAI) else None


def account_of(client: AsyncOpenAI) -> str:
    """The account of a client: a digest of its address and its credentials."""
    names = (client.base_url, client.organization, client.project, client.api_key)
    return sha256("\n".join(str(name) for name in names).encode()).hexdigest()


def is_stateful(client: AsyncOpenAI) -> bool:
    """Whether the client is wrapped by `antiphon.openai.stateful`."""
    return stateful(client) is client


def setting(settings: Settings, name: str) -> Any:
    """Reads a field of the run's settings."""
    return settings.get(name) if isinstance(settings, dict) else getattr(settings, name, None)
