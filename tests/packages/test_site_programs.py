"""Every program, command and settings block of the site has a test, or a reason for none."""

import re

import pytest

from places import ROOT
from site_coverage import NOT_RUN, TESTED, Row
from site_pages import samples, site_pages

ROWS = [*TESTED, *NOT_RUN]


def test_every_sample_has_one_row() -> None:
    found = {str(sample): [row for row in ROWS if row.is_about(sample)] for sample in samples()}
    assert len(found) > 100
    assert {sample: rows for sample, rows in found.items() if len(rows) != 1} == {}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.pages} {row.pattern}")
def test_every_row_is_about_a_sample(row: Row) -> None:
    assert any(row.is_about(sample) for sample in samples())


@pytest.mark.parametrize("test", sorted({row.outcome for row in TESTED}))
def test_every_named_test_exists(test: str) -> None:
    file, name = test.split("::")
    assert re.search(rf"^(def|fn) {name}\(", (ROOT / file).read_text(), re.MULTILINE)


def test_a_block_of_another_language_is_no_program() -> None:
    """A new language on a page has to be named, here or in `LANGUAGES`."""
    named = {
        language
        for page in site_pages()
        for language in re.findall(r"^ *```(\w+)", (ROOT / page).read_text(), re.MULTILINE)
    }
    assert named == {"sh", "python", "js", "rust", "toml", "yaml", "json", "text"}
