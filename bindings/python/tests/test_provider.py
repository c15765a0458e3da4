"""The test provider: it is strict, starts empty, and logs its requests."""

import openai
import pytest

from provider import Provider, once_free


def test_default_client_reaches_the_provider(provider: Provider) -> None:
    conversation = provider.new_conversation()
    with openai.OpenAI() as client:
        ask(client, conversation, "My color is purple")
        assert ask(client, conversation, "Which color?") == "purple"

    assert [len(given) for given in provider.turns()] == [1, 3]
    assert len(provider.items(conversation)) == 4
    assert provider.twice() == provider.refusals() == []


def test_rejections_are_logged(provider: Provider) -> None:
    output = {"type": "function_call_output", "call_id": "call_1", "output": "hello"}
    with openai.OpenAI() as client, pytest.raises(openai.BadRequestError, match="No tool call"):
        client.responses.create(model="fake-model", input=[output])  # type: ignore[list-item]

    [refusal] = provider.refusals()
    assert refusal.startswith("No tool call found")
    assert provider.turns() == []


@pytest.mark.parametrize(("on_abort", "kept"), [("whole", 2), ("nothing", 0)])
def test_abandoned_turn_is_stored_as_configured(provider: Provider, kept: int) -> None:
    conversation = provider.new_conversation()
    provider.hold("in_text")
    with openai.OpenAI() as client:
        with client.responses.create(
            model="plain-m", conversation=conversation, input="My color is purple", stream=True
        ) as stream:
            next(event for event in stream if event.type == "response.output_text.delta")
        once_free(lambda: ask(client, conversation, "Which color?"))

    assert len(provider.turns()[-1]) == kept + 1


@pytest.mark.parametrize("script", [[{"answer": [{"message": "It is done."}]}]])
def test_a_script_is_followed(provider: Provider) -> None:
    with openai.OpenAI() as client:
        assert client.responses.create(model="m", input="Do it").output_text == "It is done."


def ask(client: openai.OpenAI, conversation: str, text: str) -> str:
    response = client.responses.create(model="m", conversation=conversation, input=text)
    return response.output_text
