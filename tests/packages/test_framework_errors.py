"""Each page for a framework begins with an error, and its first program is one that gets it.

`test_documents.py` runs the same programs through the gateway, where they succeed.
"""

import re
from dataclasses import replace
from pathlib import Path

import pytest

import places  # noqa: F401  (the ways to the modules below)

from conftest import Run
from documents import blocks, headings, pages
from environments import Tools
from pages import GATEWAY
from provider import Provider
from running import run_block
from test_versions import OLDEST

BY_PAGE = pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)

# The first lines of code after the title: an error as a terminal shows it.
SHOWN = re.compile(r"\A# .*\n\n((?:    .*\n)+)")
# An id, or its beginning.
ID = re.compile(r"\b(call|fc|msg|rs)_\w*…")


@BY_PAGE
def test_the_first_program_fails_without_the_gateway(
    page: Path, tools: Tools, provider: Provider, at_provider: dict[str, str], runs: Run
) -> None:
    first = blocks(page)[0]
    without = replace(first, code=first.code.replace(GATEWAY, provider.url))

    with pytest.raises(AssertionError) as failure:
        run_block(without, tools, runs, at_provider)

    assert pattern(shown_error(page)).search(" ".join(str(failure.value).split()))
    assert all(pattern(title_error(page)).match(refusal) for refusal in provider.refusals())
    assert provider.refusals()


@BY_PAGE
def test_the_title_has_the_error_that_is_shown(page: Path) -> None:
    assert ID.sub(r"\1_…", title_error(page)) in ID.sub(r"\1_…", shown_error(page))


@BY_PAGE
def test_the_first_heading_is_the_gateways_fix(page: Path) -> None:
    assert headings(page)[1] in ("The fix: set `base_url`", "The fix: set `baseURL`")
    assert headings(page)[2] == "The fix without a gateway"


@BY_PAGE
def test_the_oldest_versions_are_named(page: Path) -> None:
    text = " ".join(page.read_text().split())
    [sentence] = re.findall(r"\]\(\.\./versions\.md\) begin with ((?:[^.]|\.\d)+)\.", text)
    named = re.findall(r"\d+\.\d+\.\d+", sentence)
    pins = "\n".join(file.read_text() for file in OLDEST)
    assert named
    assert [version for version in named if not re.search(rf"\b{re.escape(version)}\b", pins)] == []


def shown_error(page: Path) -> str:
    """The error below the title, as one line."""
    shown = SHOWN.match(page.read_text())
    assert shown, "there is no error below the title"
    return " ".join(shown[1].split())


def title_error(page: Path) -> str:
    """The error in the title."""
    quoted = re.search(r"`(.*?)`", headings(page)[0])
    assert quoted, "there is no error in the title"
    return quoted[1]


def pattern(error: str) -> re.Pattern[str]:
    """Matches the error with any ids."""
    parts = re.split(r"(?<=_)\w*…", error)
    return re.compile(r"\w+".join(re.escape(part) for part in parts))
