"""LangChain's `ChatOpenAI` beside a conversation that the server keeps."""

from collections.abc import Mapping
from typing import Annotated, Any

try:
    import langchain_openai
except ImportError as missing:
    raise ImportError(
        "antiphon.langchain needs LangChain's OpenAI package: pip install langchain-openai"
    ) from missing

from langchain_core.language_models import LanguageModelInput
from pydantic import BeforeValidator, Field, model_validator
from typing_extensions import Self

from antiphon.openai import whole

__all__ = ["ChatOpenAI"]


def id_of(conversation: Any) -> Any:
    """The id of a conversation that is given as `{"id": "conv_…"}`, as the API takes it too."""
    return conversation.get("id") if isinstance(conversation, Mapping) else conversation


class ChatOpenAI(langchain_openai.ChatOpenAI):
    """`langchain_openai.ChatOpenAI` that can go on in a conversation of the Conversations API.

        model = ChatOpenAI(model="gpt-5.4-mini", conversation=conversation.id)

    Whatever messages it is given, all of them or only the new ones, the server is sent what it does
    not hold yet, and a history that the server would refuse is mended: tools, streams, batches,
    structured output and agents work as without a conversation. The same holds for
    `use_previous_response_id` and `previous_response_id`.

    What was left out and mended is told by the logger `antiphon` and, with
    `include_response_headers`, by the headers `antiphon-resent` and `antiphon-repairs` in the
    `response_metadata` of a message. Chat Completions are left as they are.
    """

    conversation: Annotated[str | None, BeforeValidator(id_of)] = Field(default=None)
    """The conversation that the server keeps. It implies the Responses API, and turns LangChain's
    cache off: an answer follows from more than the messages.

    Of one call only: `model.invoke(…, conversation=…)`; of a copy: `model.bind(conversation=…)`; of
    one run: `model.configurable_fields(conversation=ConfigurableField(id=…))`.
    """

    @model_validator(mode="before")
    @classmethod
    def _conversation_of_model_kwargs(cls, values: Any) -> Any:
        """Takes `model_kwargs={"conversation": …}` too: so the parent class is told of it."""
        keywords = values.get("model_kwargs") if isinstance(values, dict) else None
        if not keywords or "conversation" not in keywords:
            return values
        others = {key: value for key, value in keywords.items() if key != "conversation"}
        return {"conversation": keywords["conversation"], **values, "model_kwargs": others}

    @model_validator(mode="after")
    def _begin_in_conversation(self) -> Self:
        return self._in_conversation()

    @model_validator(mode="after")
    def _make_clients_whole(self) -> Self:
        """Puts a companion beside the clients that the parent class has made by now."""
        if self.root_client is not None:
            is_derived = self.client is self.root_client.chat.completions
            self.root_client = whole(self.root_client)
            self.client = self.root_client.chat.completions if is_derived else self.client
        if self.root_async_client is not None:
            is_derived = self.async_client is self.root_async_client.chat.completions
            self.root_async_client = whole(self.root_async_client)
            if is_derived:
                self.async_client = self.root_async_client.chat.completions
        return self

    def bind(self, **kwargs: Any) -> Any:
        """Binds as any model does. A conversation becomes the bound model's own, so that what is
        bound behind it keeps it: `model.bind(conversation=…).bind_tools(…)`.
        """
        if "conversation" not in kwargs:
            return super().bind(**kwargs)
        conversation = id_of(kwargs.pop("conversation"))
        model = self.model_copy(update={"conversation": conversation})
        return super(ChatOpenAI, model._in_conversation()).bind(**kwargs)

    @classmethod
    def get_lc_namespace(cls) -> list[str]:
        """Where LangChain finds the class again when it loads what it has dumped."""
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

    def _in_conversation(self) -> Self:
        """The model, once it can be in its conversation, if it has one."""
        if self.conversation is not None:
            self._check_state(self.conversation, None)
            self.cache = False if self.cache is None else self.cache
        return self

    def _check_state(self, conversation: Any, previous_response_id: str | None) -> None:
        """The server refuses two sources of state in one request, and so is told of one."""
        if self.use_responses_api is False:
            raise ValueError(
                f"The conversation {id_of(conversation)!r} needs the Responses API, which "
                "use_responses_api=False turns off."
            )
        other = "use_previous_response_id" if self.use_previous_response_id else None
        if previous_response_id is not None:
            other = "previous_response_id"
        if other:
            raise ValueError(
                f"The conversation {id_of(conversation)!r} goes on by itself: {other} cannot be "
                "set beside it."
            )
