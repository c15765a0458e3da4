"""A server that refuses to list items, and invalid clients."""

import logging
from typing import Any

import openai
import pytest
from antiphon.openai import stateful
from openai import OpenAI
from provider import Provider
from speaking import user
from test_openai_http import Echoing, server

__all__ = ["server"]


def warnings_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The warnings of the logger `antiphon`."""
    return [
        record.getMessage()
        for record in caplog.records
        if record.name == "antiphon" and record.levelno == logging.WARNING
    ]


def test_refused_list_is_warned_of_once(
    server: Echoing, caplog: pytest.LogCaptureFixture
) -> None:
    """This server's answer to a list request is not a list of items."""
    client = stateful(OpenAI(base_url=server.url, api_key="any", max_retries=0))
    history: Any = [user("My color is red"), user("Which color?")]

    with caplog.at_level(logging.INFO, "antiphon"):
        client.responses.create(model="sim", conversation="conv_1", input=history)

    (warning,) = warnings_of(caplog)
    assert warning.startswith("the server refuses to list its items")
    assert "color" not in warning


def test_listed_items_cause_no_warning(
    provider: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    client = stateful(OpenAI())
    conversation = provider.new_conversation()
    with caplog.at_level(logging.INFO, "antiphon"):
        client.responses.create(model="sim", conversation=conversation, input="Hello")
        client.responses.create(model="sim", input="Hello")
    assert warnings_of(caplog) == []


@pytest.mark.parametrize(
    ("client", "kind"),
    [(None, "NoneType"), ("x", "str"), (OpenAI, "the class OpenAI itself"), (openai, "module")],
)
def test_other_values_are_not_clients(client: Any, kind: str) -> None:
    message = f"^client must be an OpenAI or AsyncOpenAI client, not {kind}$"
    with pytest.raises(TypeError, match=message):
        stateful(client)
