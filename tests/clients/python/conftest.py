"""What every suite starts from: a gateway, a tenant of its own, a tool, a scene."""

import asyncio
import os
import uuid
from collections.abc import Generator, Iterable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from context import ON_ABORT, Tenant
from dialogue import Echo, Scene

SCENES = {
    "one_call": Scene("fake-model"),
    "two_calls": Scene("fake-model", calls=2),
    "sim": Scene("sim"),
}

# The built-in model answers in no conversation that a provider keeps.
if ON_ABORT:
    del SCENES["sim"]

# In a short run, two calls and the built-in model are met by every way, but only as streams.
STREAMED = {"stream", "run_streamed"}


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "long: left out of a short run")
    config.addinivalue_line("markers", "stateful: needs a provider that keeps the state")
    config.addinivalue_line("markers", "stateless: needs one that keeps none")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what a short run does without, and what the provider cannot do."""
    is_short = os.environ.get("ANTIPHON_CLIENTS") == "short"
    amiss = "stateless" if ON_ABORT else "stateful"
    left_out = [
        item for item in items if is_short and is_long(item) or item.get_closest_marker(amiss)
    ]
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=left_out)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, Any]:
    """Shows with every failure what the model was given."""
    report = yield
    tenant = item.funcargs.get("tenant")
    if report.failed and tenant:
        with suppress(OSError, ValueError):
            report.sections.append(("what the model was given", tenant.model_log()))
    return report


def but_long(cases: Iterable[str], usual: list[str]) -> list[Any]:
    """All cases, of which a short run has the usual ones."""
    return [pytest.param(case, marks=[pytest.mark.long] * (case not in usual)) for case in cases]


def is_long(item: pytest.Item) -> bool:
    if "scene" not in item.fixturenames:
        return item.get_closest_marker("long") is not None
    parts = set(item.callspec.id.split("-"))
    return "one_call" not in parts and not parts & STREAMED


@pytest.fixture
def tenant(request: pytest.FixtureRequest) -> Tenant:
    """A caller with a key that no other test uses, and that names the suite."""
    return Tenant(
        base_url=os.environ["ANTIPHON_BASE_URL"],
        upstream_url=os.environ["UPSTREAM_URL"],
        api_key=f"sk-clients-{request.path.name}-{uuid.uuid4().hex}",
    )


@pytest.fixture(params=SCENES.values(), ids=SCENES.keys())
def scene(request: pytest.FixtureRequest) -> Scene:
    return request.param


@pytest.fixture
def echo() -> Echo:
    return Echo()


@pytest.fixture(scope="session")
def loop() -> Iterator[asyncio.Runner]:
    """One event loop for all asynchronous turns, as clients share connections between tests.

    `loop.run(coroutine)` returns what the coroutine returns.
    """
    with asyncio.Runner() as runner:
        yield runner
