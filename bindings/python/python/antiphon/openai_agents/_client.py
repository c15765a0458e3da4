"""The clients with which the SDK's models ask."""

from hashlib import sha256
from typing import Any, cast

from agents import Agent, Model, ModelProvider, OpenAIProvider, RunConfig, set_default_openai_client
from openai import AsyncOpenAI

from antiphon._given import described
from antiphon.openai import whole

Settings = RunConfig | dict[str, Any] | None


def install(client: AsyncOpenAI | None = None, *, use_for_tracing: bool = True) -> AsyncOpenAI:
    """Makes a whole client the SDK's default, for every model that it is only told the name of.

    Without a client, one is made from the environment. Returns the client that was installed, for
    sessions and for `conversations.create`.
    """
    installed = whole(asynchronous(client))
    set_default_openai_client(installed, use_for_tracing=use_for_tracing)
    return installed


def provider(client: AsyncOpenAI | None = None) -> OpenAIProvider:
    """A provider of models whose client is whole: `RunConfig(model_provider=provider(client))`."""
    return OpenAIProvider(openai_client=whole(asynchronous(client)))


def asynchronous(client: AsyncOpenAI | None) -> AsyncOpenAI:
    """The client, or one from the environment. Raises `TypeError` for what the SDK cannot use."""
    if client is None:
        return AsyncOpenAI()
    if not isinstance(client, AsyncOpenAI):
        raise TypeError(f"the SDK needs an AsyncOpenAI client, not {described(client)}")
    return client


def client_of(agent: Agent[Any], settings: Settings) -> AsyncOpenAI | None:
    """The client with which an agent's model asks. None where it does not ask OpenAI's API."""
    model = setting(settings, "model") or agent.model
    if not isinstance(model, Model):
        models = cast(
            ModelProvider, setting(settings, "model_provider") or RunConfig().model_provider
        )
        model = models.get_model(model)
    client = getattr(model, "_client", None)
    return client if isinstance(client, AsyncOpenAI) else None


def account_of(client: AsyncOpenAI) -> str:
    """Whose data a client's requests are about: a digest of its address and its credentials."""
    names = (client.base_url, client.organization, client.project, client.api_key)
    return sha256("\n".join(str(name) for name in names).encode()).hexdigest()


def is_whole(client: AsyncOpenAI) -> bool:
    """Whether what a client's server holds already is left out of what the client sends."""
    return whole(client) is client


def setting(settings: Settings, name: str) -> Any:
    """What a run is told under this name."""
    return settings.get(name) if isinstance(settings, dict) else getattr(settings, name, None)
