"""A server that does not tell what it holds, and clients that are none."""

import logging
from typing import Any

import openai
import pytest
from antiphon.openai import whole
from openai import OpenAI
from provider import Provider
from speaking import user
from test_openai_http import Echoing, server

__all__ = ["server"]


def warnings_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What the logger `antiphon` has warned of."""
    return [
        record.getMessage()
        for record in caplog.records
        if record.name == "antiphon" and record.levelno == logging.WARNING
    ]


def test_that_the_server_does_not_tell_is_warned_of_once_a_turn(
    server: Echoing, caplog: pytest.LogCaptureFixture
) -> None:
    """What this server says to a question is no list of items."""
    client = whole(OpenAI(base_url=server.url, api_key="any", max_retries=0))
    history: Any = [user("My color is red"), user("Which color?")]

    with caplog.at_level(logging.INFO, "antiphon"):
        client.responses.create(model="sim", conversation="conv_1", input=history)

    (warning,) = warnings_of(caplog)
    assert warning.startswith("the server does not tell what it holds")
    assert "color" not in warning


def test_where_it_tells_nothing_is_warned_of(
    provider: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    client = whole(OpenAI())
    conversation = provider.new_conversation()
    with caplog.at_level(logging.INFO, "antiphon"):
        client.responses.create(model="sim", conversation=conversation, input="Hello")
        client.responses.create(model="sim", input="Hello")
    assert warnings_of(caplog) == []


@pytest.mark.parametrize(
    ("client", "kind"),
    [(None, "NoneType"), ("x", "str"), (OpenAI, "the class OpenAI itself"), (openai, "module")],
)
def test_what_is_no_client(client: Any, kind: str) -> None:
    with pytest.raises(TypeError, match=f"^whole takes .* client, not {kind}$"):
        whole(client)
