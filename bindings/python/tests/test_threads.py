"""The engine releases the interpreter's lock while it works."""

import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import antiphon
import pytest


# The maximum number of repairs until the system wakes the other thread.
ROUNDS = 500


@pytest.fixture
def no_turns_are_taken() -> Iterator[None]:
    """Disables thread switching: a thread loses the lock only if it waits or releases it."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    yield
    sys.setswitchinterval(interval)


def history(length: int) -> list[dict[str, Any]]:
    said = [{"role": "user", "content": f"Message {n}"} for n in range(length)]
    calls = [
        {"type": "function_call", "call_id": f"call_{n}", "name": "echo", "arguments": "{}"}
        for n in range(length)
    ]
    return [item for pair in zip(said, calls) for item in pair]


def test_another_thread_runs_during_a_repair(no_turns_are_taken: None) -> None:
    """If the engine held the lock, the other thread would wait for a thousand seconds."""
    items = history(1_000)
    gate = threading.Lock()
    went_on = threading.Event()
    gate.acquire()

    def go_on() -> None:
        with gate:
            went_on.set()

    other = threading.Thread(target=go_on, daemon=True)
    other.start()
    gate.release()
    for _ in range(ROUNDS):
        if went_on.is_set():
            break
        antiphon.repair(items)
    assert went_on.is_set()


def test_threads_get_the_same_result() -> None:
    items = history(200)
    alone = antiphon.repair(items)
    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(lambda _: antiphon.repair(items), range(64)))
    assert all(repaired == alone for repaired in together)


def test_concurrent_list_change_is_ignored() -> None:
    items = history(500)
    given = list(items)

    class Clearing:
        def model_dump(self, **_: Any) -> dict[str, Any]:
            items.clear()
            return {"role": "user", "content": "The list is emptied while it is read."}

    items.append(Clearing())  # type: ignore[arg-type]
    repaired = antiphon.repair(items)
    assert repaired.items[0] is given[0]
    assert len(repaired.items) > len(given)


def test_threads_share_a_tracker() -> None:
    tracker = antiphon.Tracker(conversation="conv_1")
    with ThreadPoolExecutor(8) as threads:
        added = list(threads.map(tracker.add, ([item] for item in history(100)[::2])))
    assert sorted(occurrence for each in added for occurrence in each) == list(range(100))
