"""Arguments that the module for the OpenAI Agents SDK rejects."""

from typing import Any

import pytest
from agents import SQLiteSession
from agents.models import _openai_shared
from antiphon.openai_agents import WholeSession, install
from antiphon.openai_agents import provider as whole_provider
from openai import AsyncOpenAI, OpenAI


@pytest.mark.parametrize("make", [install, whole_provider])
@pytest.mark.parametrize(
    ("client", "kind"),
    [
        (OpenAI(api_key="any"), "OpenAI"),
        (AsyncOpenAI, "the class AsyncOpenAI itself"),
        ("gpt-5", "str"),
        ("", "str"),
    ],
)
def test_a_client_that_the_sdk_cannot_use(make: Any, client: Any, kind: str) -> None:
    before = _openai_shared.get_default_openai_client()
    with pytest.raises(TypeError, match=f"^the SDK needs an AsyncOpenAI client, not {kind}$"):
        make(client)
    assert _openai_shared.get_default_openai_client() is before


@pytest.mark.parametrize("session", [None, "user-17", SQLiteSession])
def test_other_values_are_not_sessions(session: Any) -> None:
    with pytest.raises(TypeError, match="^WholeSession wraps a session of the SDK, not "):
        WholeSession(session)
