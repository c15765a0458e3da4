"""The fault classes match the engine's list of faults."""

import os
import re
from pathlib import Path

import antiphon
import pytest
from antiphon import faults

REPOSITORY = Path(os.environ.get("ANTIPHON_REPOSITORY", Path(__file__).parents[3]))
CATALOGUE = REPOSITORY / "crates" / "antiphon" / "src" / "faults" / "mod.rs"

# The engine's text for an item that a server would store twice without an error.
BESIDE = {"ResentItem": "resent_item"}


def catalogue() -> dict[str, str]:
    """Each kind of fault in Rust with its name."""
    return dict(re.findall(r'Self::(\w+) \{ \.\. \} => "(\w+)"', CATALOGUE.read_text()))


def test_there_is_a_class_for_each_kind() -> None:
    classes = {kind.__name__: kind.name for kind in antiphon.Fault.__subclasses__()}
    assert len(catalogue()) > 10
    assert classes == catalogue() | BESIDE


@pytest.mark.parametrize("kind", antiphon.Fault.__subclasses__(), ids=lambda kind: kind.__name__)
def test_each_class_is_exported_and_documented(kind: type[antiphon.Fault]) -> None:
    assert getattr(antiphon, kind.__name__) is kind
    assert kind.__name__ in antiphon.__all__ and kind.__name__ in faults.__all__
    assert kind.__doc__


def test_fault_text_is_the_providers() -> None:
    (fault,) = antiphon.check([{"type": "reasoning", "id": "rs_1", "summary": []}])
    assert isinstance(fault, antiphon.LoneReasoning)
    assert str(fault) == fault.message
    assert "rs_1" in str(fault) and "without its required following item" in str(fault)
    assert (fault.position, fault.id, fault.param) == (0, "rs_1", "input")
