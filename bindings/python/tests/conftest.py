"""What the tests start from: a provider of their own, and no settings from elsewhere.

A test changes its provider by parameters of these names:

    @pytest.mark.parametrize("on_abort", ["part", "whole", "nothing"])
    def test_a_turn_that_is_left(provider): ...
"""

import asyncio
import os
from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from provider import Item, Provider, start_provider

# Settings that a shell may hold for these clients, and that must not reach them.
FOREIGN = ("OPENAI_", "AZURE_", "LANGCHAIN_", "LANGSMITH_", "LC_OUTPUT_")


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No client meets settings for other servers, a proxy, or a place to send its traces to."""
    for name in [name for name in os.environ if name.startswith(FOREIGN)]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "true")


@pytest.fixture
def on_abort() -> str:
    """What the provider keeps of a turn whose caller leaves: `part`, `whole` or `nothing`."""
    return "part"


@pytest.fixture
def profile() -> str:
    """Which provider is played: `openai`, `azure` or `open-responses`."""
    return "openai"


@pytest.fixture
def script() -> list[Item] | None:
    """The answers that are given before the model goes on by itself."""
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
    """A fresh strict provider, at which a client that is told nothing else arrives."""
    with start_provider(tmp_path, on_abort, profile, script) as started:
        monkeypatch.setenv("OPENAI_BASE_URL", started.url)
        monkeypatch.setenv("OPENAI_API_KEY", started.key)
        yield started


@pytest.fixture(scope="session")
def loop() -> Iterator[asyncio.Runner]:
    """One event loop for all: clients keep their connections from one run to the next."""
    with asyncio.Runner() as runner:
        yield runner


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, Any]:
    """Shows with every failure what the provider was asked, and what it refused."""
    report = yield
    provider = getattr(item, "funcargs", {}).get("provider")
    if report.when == "call" and report.failed and provider:
        with suppress(OSError, ValueError):
            report.sections.append(("what the provider was asked", account_of(provider)))
    return report


def account_of(provider: Provider) -> str:
    """A line for each request: its place, its status, what the model was given, the refusal."""
    return "\n".join(line_of(entry) for entry in provider.log())


def line_of(entry: Item) -> str:
    kinds = " ".join(kind(item) for item in entry["given"] or [])
    refused = f"  REFUSED: {entry['refusal']['message']}" if entry["refusal"] else ""
    twice = f"  TWICE: {entry['twice']}" if entry["twice"] else ""
    return f"{entry['method']} {entry['path']} {entry['status']} {kinds}{refused}{twice}"


def kind(item: Item) -> str:
    """A message's role, any other item's type."""
    item_type = str(item.get("type", "message"))
    return str(item["role"]) if item_type == "message" else item_type
