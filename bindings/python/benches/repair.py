"""Measures the repair of a long history from Python: `python repair.py ITEMS.json`.

The file contains an array of items. Prints one line of JSON: the median time of one repair of all
items in nanoseconds, and of one `json.dumps` for comparison.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import antiphon

WARM_UP = 20
ROUNDS = 200


def main() -> None:
    items: list[Any] = json.loads(Path(sys.argv[1]).read_text())
    figures = {
        "repair_ns": median(lambda: antiphon.repair(items)),
        "filter_orphaned_reasoning_ns": median(lambda: antiphon.filter_orphaned_reasoning(items)),
        "json_dumps_ns": median(lambda: json.dumps(items)),
        "items": len(items),
    }
    print(json.dumps(figures))


def median(work: Callable[[], object]) -> int:
    """The median of many rounds, after some warm-up rounds."""
    for _ in range(WARM_UP):
        work()
    return int(statistics.median(nanoseconds(work) for _ in range(ROUNDS)))


def nanoseconds(work: Callable[[], object]) -> int:
    start = time.perf_counter_ns()
    work()
    return time.perf_counter_ns() - start


if __name__ == "__main__":
    main()
