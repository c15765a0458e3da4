"""The programs in the documents run as they stand, where a user runs them.

A program that names the gateway's address is given that of the test's gateway.
"""

from dataclasses import replace
from pathlib import Path

import pytest

import places  # noqa: F401  (the ways to the modules below)

from conftest import Run
from documents import Block, blocks, pages, readme_blocks, uses_package
from environments import Tools
from pages import GATEWAY, runnable
from provider import Provider
from running import run_block, run_with_node

MOST_LINES = 12


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
        run_block(replace(block, code=code), tools, runs, at_provider)


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_a_page_begins_with_the_gateway(page: Path) -> None:
    """It is the fix that needs no change of a program, and the package comes after it."""
    first = blocks(page)[0]
    assert GATEWAY in first.code
    assert not uses_package(first)
    assert any(uses_package(block) for block in blocks(page))


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
