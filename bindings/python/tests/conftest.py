"""Fixtures: each test has its own provider, and no settings of the environment.

A test configures its provider with parameters of these names:

    @pytest.mark.parametrize("on_abort", ["part", "whole", "nothing"])
    def test_abandoned_turn(provider): ...
"""

import asyncio
import os
from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from provider import Item, Provider, start_provider

# Environment variables that would change the behaviour of the clients.
FOREIGN = ("OPENAI_", "AZURE_", "LANGCHAIN_", "LANGSMITH_", "LC_OUTPUT_")


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Removes settings for other servers, proxies and tracing."""
    for name in [name for name in os.environ if name.startswith(FOREIGN)]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "true")


@pytest.fixture
def on_abort() -> str:
    """The part of a turn that is stored if its caller disconnects: `part`, `whole` or `nothing`."""
    return "part"


@pytest.fixture
def profile() -> str:
    """The profile of the provider: `openai`, `azure` or `open-responses`."""
    return "openai"


@pytest.fixture
def script() -> list[Item] | None:
    """The scripted answers, which come before the model's own."""
    return None


@pytest.fixture
def provider(
    on_abort: str,
    profile: str,
    script: list[Item] | None,
    tmp_path: Path,
    clean_environment: None,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Provider]:
    """A new strict provider. Clients with default settings use it."""
    with start_provider(tmp_path, on_abort, profile, script) as started:
        monkeypatch.setenv("OPENAI_BASE_URL", started.url)
        monkeypatch.setenv("OPENAI_API_KEY", started.key)
        yield started


@pytest.fixture(scope="session")
def loop() -> Iterator[asyncio.Runner]:
    """One event loop for all tests: clients reuse their connections between runs."""
    with asyncio.Runner() as runner:
        yield runner


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, Any]:
    """Adds the provider's requests and rejections to the report of a failure."""
    report = yield
    provider = getattr(item, "funcargs", {}).get("provider")
    if report.when == "call" and report.failed and provider:
        with suppress(OSError, ValueError):
            report.sections.append(("requests to the provider", account_of(provider)))
    return report


def account_of(provider: Provider) -> str:
    """A line for each request: path, status, the model's input, the rejection."""
    return "\n".join(line_of(entry) for entry in provider.log())


def line_of(entry: Item) -> str:
    kinds = " ".join(kind(item) for item in entry["given"] or [])
    refused = f"  REFUSED: {entry['refusal']['message']}" if entry["refusal"] else ""
    twice = f"  TWICE: {entry['twice']}" if entry["twice"] else ""
    return f"{entry['method']} {entry['path']} {entry['status']} {kinds}{refused}{twice}"


def kind(item: Item) -> str:
    """The role of a message, or the type of another item."""
    item_type = str(item.get("type", "message"))
    return str(item["role"]) if item_type == "message" else item_type
