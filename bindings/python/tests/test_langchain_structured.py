"""Structured output in a conversation."""

from typing import Any

import langchain_openai
import openai
import pytest
from pydantic import BaseModel

from antiphon.langchain import ChatOpenAI
from langchain_story import MODEL, RECALL
from provider import Provider


class Pet(BaseModel):
    """A pet."""

    name: str


PET = '{"name":"Biscuit"}'
IN_TEXT: list[dict[str, Any]] = [{"answer": [{"message": PET}]}] * 2
IN_A_CALL: list[dict[str, Any]] = [
    {"answer": [{"call": {"name": "Pet", "arguments": {"name": "Biscuit"}}}]}
]


@pytest.mark.parametrize("script", [IN_TEXT])
def test_a_schema(provider: Provider) -> None:
    model = ChatOpenAI(model=MODEL, conversation=provider.new_conversation())
    pets = model.with_structured_output(Pet)

    assert pets.invoke("Which pet?") == Pet(name="Biscuit")
    assert pets.invoke("Which one?") == Pet(name="Biscuit")
    assert provider.twice() == provider.refusals() == []


@pytest.mark.parametrize("script", [IN_A_CALL])
def test_unwrapped_schema_tool_breaks_the_conversation(provider: Provider) -> None:
    model = langchain_openai.ChatOpenAI(
        model=MODEL,
        use_responses_api=True,
        model_kwargs={"conversation": provider.new_conversation()},
    )
    model.with_structured_output(Pet, method="function_calling").invoke("Which pet?")

    with pytest.raises(openai.BadRequestError, match="No tool output found for function call"):
        model.invoke(RECALL)


@pytest.mark.parametrize("script", [IN_A_CALL])
def test_a_schema_as_a_tool(provider: Provider) -> None:
    """The call that carries the answer gets no output."""
    model = ChatOpenAI(model=MODEL, conversation=provider.new_conversation())
    pets = model.with_structured_output(Pet, method="function_calling")

    assert pets.invoke("My color is purple, dog is Biscuit") == Pet(name="Biscuit")
    assert model.invoke(RECALL).text == "purple, Biscuit"
    assert provider.twice() == provider.refusals() == []
