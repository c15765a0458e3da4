"""The programs in the documents run as they stand, where a user runs them."""

import re
from pathlib import Path

import pytest

import places  # noqa: F401  (the ways to the modules below)

from conftest import Run
from documents import Block, blocks, headings, pages, readme_blocks
from environments import Tools

MOST_LINES = 10

# What a provider or a framework says is quoted, and has more words than one.
ERROR_TEXT = re.compile(r"`[^` ]+ [^`]+`")
# What users say who saw no error.
SYMPTOM = re.compile(r"\b(twice|again|forgets?|lost|doubled?|fails?)\b")


@pytest.mark.parametrize("block", readme_blocks(), ids=str)
def test_a_program_of_a_readme_runs(
    block: Block,
    tools: Tools,
    clean_python: Path,
    clean_node_dir: Path,
    at_provider: dict[str, str],
    runs: Run,
) -> None:
    """Without frameworks, unless it imports one."""
    if block.is_python:
        python = tools.python if block.needs else clean_python
        runs(python, "-c", block.code, **at_provider)
    else:
        directory = tools.node_dir if block.needs else clean_node_dir
        run_with_node(block, tools, directory, runs, at_provider)


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_the_first_program_of_a_page_runs(
    page: Path, tools: Tools, at_provider: dict[str, str], runs: Run
) -> None:
    """And so does the first in the other language, where the page has both."""
    found = blocks(page)
    firsts = [next(filter(of, found), None) for of in (is_python, is_node)]
    assert any(firsts), "the page has no program"
    for block in filter(None, firsts):
        if block.is_python:
            runs(tools.python, "-c", block.code, **at_provider)
        else:
            run_with_node(block, tools, tools.node_dir, runs, at_provider)


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_a_page_is_found_by_what_its_reader_sees(page: Path) -> None:
    """A heading is an error's text, or a symptom in a user's words."""
    said = headings(page)
    assert [text for text in said if ERROR_TEXT.search(text) or SYMPTOM.search(text)], said


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_a_fix_is_short(page: Path) -> None:
    first = blocks(page)[0]
    assert len(first.lines) <= MOST_LINES, f"{first}: {len(first.lines)} lines"


def test_there_are_pages_for_all_frameworks() -> None:
    names = {page.stem for page in pages()}
    assert names >= FRAMEWORKS


FRAMEWORKS = {"agent-framework", "ai-sdk", "langchain", "langgraph", "openai", "openai-agents"}


def is_python(block: Block) -> bool:
    return block.is_python


def is_node(block: Block) -> bool:
    return block.is_node


def run_with_node(
    block: Block, tools: Tools, directory: Path, runs: Run, env: dict[str, str]
) -> None:
    """As a module beside `node_modules`; Node drops the types of TypeScript itself."""
    ending = "ts" if block.language in ("ts", "typescript") else "mjs"
    program = directory / f"program.{ending}"
    program.write_text(block.code)
    runs(tools.node, program, cwd=directory, **env)
