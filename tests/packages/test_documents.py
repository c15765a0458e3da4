"""The programs in the documents run as they stand, where a user runs them.

A program that names the gateway's address is given that of the test's gateway.
"""

import re
from dataclasses import replace
from pathlib import Path

import pytest

import places  # noqa: F401  (the ways to the modules below)

from conftest import Run
from documents import Block, blocks, headings, pages, readme_blocks, uses_package
from environments import Tools
from pages import GATEWAY, runnable
from provider import Provider

MOST_LINES = 12

# What a provider or a framework says is quoted, and has more words than one.
ERROR_TEXT = re.compile(r"`[^` ]+ [^`]+`")
# What users say who saw no error.
SYMPTOM = re.compile(r"\b(twice|again|forgets?|lost|doubled?|fails?)\b")


def first_programs() -> list[Block]:
    """Of each page and language, the first program for the gateway and the first for the package."""
    firsts: dict[tuple[Path, bool, bool], Block] = {}
    for page in pages():
        for block in blocks(page):
            firsts.setdefault((page, block.is_python, uses_package(block)), block)
    return [*firsts.values()]


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


@pytest.mark.parametrize("block", [block for page in pages() for block in blocks(page)], ids=str)
def test_the_programs_of_a_page_run(
    block: Block,
    tools: Tools,
    provider: Provider,
    at_provider: dict[str, str],
    runs: Run,
    tmp_path: Path,
) -> None:
    with runnable(block.code, provider, tmp_path) as code:
        if block.is_python:
            runs(tools.python, "-c", code, **at_provider)
        else:
            run_with_node(replace(block, code=code), tools, tools.node_dir, runs, at_provider)


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_a_page_begins_with_the_gateway(page: Path) -> None:
    """It is the fix that needs no change of a program, and the package comes after it."""
    first = blocks(page)[0]
    assert GATEWAY in first.code
    assert not uses_package(first)
    assert any(uses_package(block) for block in blocks(page))


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_a_page_is_found_by_what_its_reader_sees(page: Path) -> None:
    """A heading is an error's text, or a symptom in a user's words."""
    said = headings(page)
    assert [text for text in said if ERROR_TEXT.search(text) or SYMPTOM.search(text)], said


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_a_fix_is_short(page: Path) -> None:
    programs = [block for block in first_programs() if block.document == page]
    assert [str(block) for block in programs if len(block.lines) > MOST_LINES] == []


def test_there_are_pages_for_all_frameworks() -> None:
    names = {page.stem for page in pages()}
    assert names >= FRAMEWORKS


FRAMEWORKS = {
    *("agent-framework", "ai-sdk", "langchain", "langgraph"),
    *("openai", "openai-agents", "openai-agents-js"),
}


def run_with_node(
    block: Block, tools: Tools, directory: Path, runs: Run, env: dict[str, str]
) -> None:
    """As a module beside `node_modules`; Node drops the types of TypeScript itself."""
    ending = "ts" if block.language in ("ts", "typescript") else "mjs"
    program = directory / f"program.{ending}"
    program.write_text(block.code)
    runs(tools.node, program, cwd=directory, **env)
