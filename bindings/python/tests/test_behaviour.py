"""Runs every case of tests/behaviour, as Rust and Node do. Its README.md describes the format."""

import copy
import json
import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import antiphon
import pytest
from accompanying import run_stateful
from comparison import assert_named_fields_equal, assert_equal
from tracking import run_tracker

REPOSITORY = Path(os.environ.get("ANTIPHON_REPOSITORY", Path(__file__).parents[3]))
FILES = sorted((REPOSITORY / "tests" / "behaviour").glob("*.json"))
FIELDS = {"name", "does", "given", "gives", "fails"}

Case = dict[str, Any]

ran: list[str] = []
"""The names of the cases that ran."""


def cases() -> list[Any]:
    """All cases, with names from their files."""
    of_files = [(file, json.loads(file.read_text())) for file in FILES]
    assert all(found for _, found in of_files), "there is a file without cases"
    return [
        pytest.param(case, id=f"{file.stem}: {case['name']}")
        for file, found in of_files
        for case in found
    ]


@pytest.mark.parametrize("case", cases())
def test_case(case: Case) -> None:
    ran.append(case["name"])
    assert set(case) <= FIELDS, "a field that is not known"
    assert case["does"] in RUNNERS, f'"does": "{case["does"]}" is not known'
    given = copy.deepcopy(case["given"])
    run = RUNNERS[case["does"]]
    if "fails" in case:
        fails(run, given, case["fails"])
    else:
        run(given, case.get("gives"))
    assert given == case["given"], "what was given was changed"


def test_no_case_is_skipped(request: pytest.FixtureRequest) -> None:
    """Runs after the cases."""
    collected = [item.name for item in request.session.items if item.name.startswith("test_case[")]
    assert FILES and len(ran) == len(collected)


def fails(run: Callable[[Case, Any], None], given: Case, wanted: Case) -> None:
    """Compares the exception with the expected one of a case."""
    with pytest.raises(Exception) as raised:
        run(given, None)
    error = raised.value
    match wanted:
        case {"fault": name}:
            assert isinstance(error, antiphon.Fault) and type(error).name == name
            assert_named_fields_equal(told_by(error), wanted)
        case {"unreadable": sentence}:
            readable = isinstance(error, antiphon.Unreadable) and str(error) == sentence
            assert readable or isinstance(error, TypeError), error
        case {"policy": word}:
            assert isinstance(error, ValueError) and word in str(error)
        case {"tracker": name}:
            assert isinstance(error, antiphon.TrackerError) and error.name == name
        case _:
            raise AssertionError(f"fails: {wanted} is not known")


def check(given: Case, gives: Any) -> None:
    assert_named_fields_equal([told_by(fault) for fault in antiphon.check(**given)], gives)


def repair(given: Case, gives: Any) -> None:
    same_mended(given, antiphon.repair(**given), gives)


def filter_orphaned_reasoning(given: Case, gives: Any) -> None:
    same_mended(given, antiphon.filter_orphaned_reasoning(**given), gives)


def strip(given: Case, gives: Any) -> None:
    same_mended(given, antiphon.strip(**given), gives)


def reconcile(given: Case, gives: Any) -> None:
    verdicts = [asdict(verdict) for verdict in antiphon.reconcile(**given)]
    told = [{k: v for k, v in verdict.items() if v is not None} for verdict in verdicts]
    assert_equal(told, gives)


def tracker(given: Case, _: Any) -> None:
    run_tracker(**given)


def convert(given: Case, gives: Any) -> None:
    options = {"from_" if name == "from" else name: value for name, value in given.items()}
    answer = options.pop("parts" if "parts" in given else "text")
    converted = antiphon.convert(answer, **options)
    told = {
        "events": converted.events,
        "folded": converted.answer,
        "notes": converted.notes,
        "error": converted.error,
    }
    assert_named_fields_equal(told, {"error": None, **gives})


def companion(given: Case, _: Any) -> None:
    run_stateful(**given)


RUNNERS: dict[str, Callable[[Case, Any], None]] = {
    run.__name__: run
    for run in (
        check,
        repair,
        filter_orphaned_reasoning,
        strip,
        reconcile,
        tracker,
        companion,
        convert,
    )
}


def told_by(fault: antiphon.Fault) -> Case:
    """A fault in the form of a finding."""
    fields = ("position", "id", "message", "code", "param")
    return {"fault": fault.name, **{name: getattr(fault, name) for name in fields}}


def same_mended(given: Case, repaired: antiphon.Repaired[Any], wanted: Any) -> None:
    """Unchanged items must be the same objects; other items are compared in full."""
    places = {id(item): position for position, item in enumerate(given["items"])}
    assert_equal([places.get(id(item), item) for item in repaired.items], wanted["items"])
    assert_named_fields_equal([asdict(mend) for mend in repaired.mends], wanted["mends"])
