"""LangChain's `ChatOpenAI` for conversations that the server stores."""

from collections.abc import Mapping
from typing import Annotated, Any

try:
    import langchain_openai
except ImportError as missing:
    raise ImportError(
        "antiphon.langchain needs LangChain's OpenAI package: pip install langchain-openai"
    ) from missing

from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableBinding, RunnableConfig
from pydantic import BeforeValidator, Field, model_validator
from typing_extensions import Self

from antiphon.openai import stateful

__all__ = ["BoundChatOpenAI", "ChatOpenAI"]


def id_of(conversation: Any) -> Any:
    """Returns the id of a conversation, which the API also accepts as `{"id": "conv_…"}`."""
    return conversation.get("id") if isinstance(conversation, Mapping) else conversation


class ChatOpenAI(langchain_openai.ChatOpenAI):
    """`langchain_openai.ChatOpenAI` with support for conversations of the Conversations API.

        model = ChatOpenAI(model="gpt-5.4-mini", conversation=conversation.id)

    Pass all messages or only the new ones: the model sends the items that the server does not hold
    yet, and repairs a history that the server would reject. Tools, streams, batches, structured
    output and agents work as without a conversation. The same applies to
    `use_previous_response_id` and `previous_response_id`.

    The logger `antiphon` reports the number of items left out and the repairs. With
    `include_response_headers`, so do the headers `antiphon-resent` and `antiphon-repairs` in a
    message's `response_metadata`. Requests to Chat Completions are not changed.
    """

    conversation: Annotated[str | None, BeforeValidator(id_of)] = Field(default=None)
    """The conversation that the server stores. It implies the Responses API, and turns LangChain's
    cache off, because an answer depends on more than the messages.

    To set it for one call, use `model.invoke(…, conversation=…)`; for a copy,
    `model.bind(conversation=…)`; for one run,
    `model.configurable_fields(conversation=ConfigurableField(id=…))`.
    """

    @model_validator(mode="before")
    @classmethod
    def _conversation_of_model_kwargs(cls, values: Any) -> Any:
        """Accepts `model_kwargs={"conversation": …}`, the parent class's way to set the field."""
        keywords = values.get("model_kwargs") if isinstance(values, dict) else None
        if not keywords or "conversation" not in keywords:
            return values
        others = {key: value for key, value in keywords.items() if key != "conversation"}
        return {"conversation": keywords["conversation"], **values, "model_kwargs": others}

    @model_validator(mode="after")
    def _begin_in_conversation(self) -> Self:
        return self._in_conversation()

    @model_validator(mode="after")
    def _wrap_clients(self) -> Self:
        """Wraps the openai clients that the parent class has created before."""
        if self.root_client is not None:
            is_derived = self.client is self.root_client.chat.completions
            self.root_client = stateful(self.root_client)
            self.client = self.root_client.chat.completions if is_derived else self.client
        if self.root_async_client is not None:
            is_derived = self.async_client is self.root_async_client.chat.completions
            self.root_async_client = stateful(self.root_async_client)
            if is_derived:
                self.async_client = self.root_async_client.chat.completions
        return self

    def bind(self, **kwargs: Any) -> Any:
        """Binds keyword arguments. A conversation becomes a field of a copied model, so that later
        bindings keep it: `model.bind(conversation=…).bind_tools(…)`.
        """
        return BoundChatOpenAI(bound=self).bind(**kwargs)

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        """Binds tools. The result can be bound to a conversation."""
        bound: Any = super().bind_tools(tools, **kwargs)
        return BoundChatOpenAI(bound=self, kwargs=bound.kwargs, config=bound.config)

    def with_config(self, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Binds a configuration. The result can be bound to a conversation."""
        return BoundChatOpenAI(bound=self).with_config(config, **kwargs)

    @classmethod
    def get_lc_namespace(cls) -> list[str]:
        """The namespace under which LangChain serializes and loads the class."""
        return ["antiphon", "langchain"]

    @property
    def _default_params(self) -> dict[str, Any]:
        params: dict[str, Any] = super()._default_params
        if self.conversation is not None:
            params = {"conversation": self.conversation, **params}
        return params

    def _use_responses_api(self, payload: dict[str, Any]) -> bool:
        conversation = payload.get("conversation", self.conversation)
        return conversation is not None or super()._use_responses_api(payload)

    def _get_request_payload(
        self, input_: LanguageModelInput, *, stop: list[str] | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        conversation = kwargs.get("conversation", self.conversation)
        if conversation is not None:
            self._check_state(conversation, kwargs.get("previous_response_id"))
        payload: dict[str, Any] = super()._get_request_payload(input_, stop=stop, **kwargs)
        if conversation is None:
            payload.pop("conversation", None)
        return payload

    def _copy_for(self, conversation: Any) -> Self:
        """A copy with another conversation."""
        return self.model_copy(update={"conversation": id_of(conversation)})._in_conversation()

    def _in_conversation(self) -> Self:
        """Checks the options if the model has a conversation, and turns the cache off."""
        if self.conversation is not None:
            self._check_state(self.conversation, None)
            self.cache = False if self.cache is None else self.cache
        return self

    def _check_state(self, conversation: Any, previous_response_id: str | None) -> None:
        """Raises `ValueError` for a second source of state, which the server would reject."""
        if self.use_responses_api is False:
            raise ValueError(
                f"The conversation {id_of(conversation)!r} needs the Responses API: remove "
                "use_responses_api=False."
            )
        other = "use_previous_response_id" if self.use_previous_response_id else None
        if previous_response_id is not None:
            other = "previous_response_id"
        if other:
            raise ValueError(
                f"The conversation {id_of(conversation)!r} already provides the state: remove "
                f"{other}."
            )


class BoundChatOpenAI(RunnableBinding[LanguageModelInput, AIMessage]):
    """A `ChatOpenAI` with bound arguments.

    LangChain calls `bind_tools` and `with_structured_output` of a binding on the model inside, and
    loses the bound arguments. A conversation is therefore a field of that model.
    """

    def bind(self, **kwargs: Any) -> Any:
        """Binds further arguments; a conversation goes to a copy of the model."""
        model = self.bound
        if "conversation" in kwargs and isinstance(model, ChatOpenAI):
            model = model._copy_for(kwargs.pop("conversation"))
        bound = {**self.kwargs, **kwargs}
        return BoundChatOpenAI(bound=model, kwargs=bound, config=self.config)

    @classmethod
    def get_lc_namespace(cls) -> list[str]:
        """The namespace under which LangChain serializes and loads the class."""
        return ["antiphon", "langchain"]
