"""Holds the metrics of a gateway to their documentation, with the parser of Prometheus's own client.

    metrics.py URL KEY

Every family must be in the table of docs/metrics.md, with its type and its labels. Exits with 1 if
one is not, or if the text cannot be parsed.
"""

import re
import sys
import urllib.request
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

BOOK = Path(__file__).parents[2] / "docs" / "metrics.md"
ROW = re.compile(r"\| `(?P<name>\w+)` \| (?P<type>\w+) \|(?P<labels>[^|]*)\|")

# What a histogram adds to its name, and the label of its buckets.
OF_HISTOGRAM = re.compile(r"_(bucket|sum|count)$")


def documented() -> dict[str, tuple[str, set[str]]]:
    """The type and the labels of each metric."""
    rows = ROW.finditer(BOOK.read_text())
    return {row["name"]: (row["type"], set(re.findall(r"`(\w+)`", row["labels"]))) for row in rows}


def read(url: str, key: str) -> str:
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {key}"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read().decode()


def flaws(text: str) -> list[str]:
    """What the documentation does not say of the metrics."""
    known, found = documented(), []
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            is_histogram = family.type == "histogram"
            name = OF_HISTOGRAM.sub("", sample.name) if is_histogram else sample.name
            labels = set(sample.labels) - ({"le"} if is_histogram else set())
            if known.get(name) != (family.type, labels):
                found.append(f"{name} is a {family.type} with the labels {sorted(labels)}")
    return sorted(set(found))


def main() -> int:
    url, key = sys.argv[1:]
    text = read(url, key)
    found = flaws(text)
    for flaw in found:
        print(f"not as docs/metrics.md says: {flaw}", file=sys.stderr)
    names = {line.split("{")[0].split(" ")[0] for line in text.splitlines() if line[:1] != "#"}
    turns = [line for line in text.splitlines() if line.startswith("antiphon_turns_total{")]
    if not turns:
        print("no turn was counted", file=sys.stderr)
    print(f"metrics: {len(names)} names of series, {len(found)} not as documented")
    return 1 if found or not turns else 0


if __name__ == "__main__":
    sys.exit(main())
