"""What a repair of a long history costs from Python: `python repair.py ITEMS.json`.

The file holds an array of items. One line of JSON says the median of one repair of them all, in
nanoseconds, and for comparison what one `json.dumps` of them costs.
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
    """The median of many rounds, behind some that warm up."""
    for _ in range(WARM_UP):
        work()
    return int(statistics.median(nanoseconds(work) for _ in range(ROUNDS)))


def nanoseconds(work: Callable[[], object]) -> int:
    begun = time.perf_counter_ns()
    work()
    return time.perf_counter_ns() - begun


if __name__ == "__main__":
    main()
