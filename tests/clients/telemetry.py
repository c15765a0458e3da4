"""The traces and metrics of a gateway: exported to a collector, and checked after the suites.

The collector passes them on to a receiver, which is a second fake upstream. Its report has the faults of
all spans, for each trace its spans, and the names of all metrics. The fake upstream in front of which the gateway runs logs the context of each request, and the
keys of the tenants name the suites: so each suite's requests must be in traces that the receiver got.
"""

import json
import sys
from typing import Any
from urllib.request import urlopen

from setups import Setup
from suites import SUITES, Tally

TIMEOUT = 60

# The stages of a turn, without those that few turns have.
STAGES = {"open", "load", "reconcile", "send", "stream", "commit"}


# Some of the metrics of every gateway: a counter, a gauge and a histogram.
METRICS = {"antiphon_turns_total", "antiphon_turns_open", "antiphon_turn_seconds"}


def variables(collector_url: str) -> dict[str, str]:
    """The variables that export a gateway's metrics and all of its traces to this collector."""
    return {
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector_url,
        "OTEL_METRIC_EXPORT_INTERVAL": "5000",
        "OTEL_BSP_SCHEDULE_DELAY": "500",
        "OTEL_BSP_MAX_QUEUE_SIZE": "100000",
    }


def check_telemetry(
    setup: Setup, names: list[str], provider_url: str, receiver_url: str
) -> Tally:
    """Checks the traces and metrics that the receiver has got, after the gateway has ended."""
    report = fetch(f"{root(receiver_url)}/otlp/report")
    faults = report["faults"]
    traces = {trace: {s["id"]: s["name"] for s in spans} for trace, spans in report["traces"].items()}
    if not any("commit" in spans.values() for spans in traces.values()):
        faults.append("no trace has a turn")
    faults += [f"{name} did not arrive" for name in METRICS - {*report["metrics"]}]
    if setup.on_abort is None:
        sent = fetch(f"{root(provider_url)}/log")
        for name in names:
            has_turns = (setup.api, name) not in PASSED
            faults += suite_faults(SUITES[name], sent, traces, has_turns)
    for fault in faults:
        print(f"telemetry of setup {setup.name}: {fault}", file=sys.stderr, flush=True)
    return Tally(passed=0 if faults else 1, failed=1 if faults else 0)


# The suites whose requests all pass to an upstream of the same API, without a turn.
PASSED = {("anthropic", "claude_code")}


def suite_faults(
    file: str, sent: list[dict[str, Any]], traces: dict[str, dict[str, str]], has_turns: bool
) -> list[str]:
    """The faults of a suite: a request whose span did not arrive, or no whole turn."""
    contexts = [
        entry["traceparent"] or "" for entry in sent if f"-{file}-" in (entry["token"] or "")
    ]
    if not contexts:
        return [f"{file} has sent no request"]
    faults = []
    has_turn = False
    for context in contexts:
        _, trace, span, flags = context.split("-") if context else ("", "", "", "")
        spans = traces.get(trace, {})
        if flags != "01" or span not in spans:
            faults.append(f"{file}: the span of a request with '{context}' did not arrive")
        has_turn = has_turn or STAGES <= set(spans.values())
    return faults[:3] if faults or has_turn or not has_turns else [f"{file}: no trace has all stages of a turn"]


def root(url: str) -> str:
    return url.removesuffix("/v1")


def fetch(url: str) -> Any:
    with urlopen(url, timeout=TIMEOUT) as answer:
        return json.load(answer)
