"""Runs the programs that stand in the documents."""

from pathlib import Path

from conftest import Run
from documents import Block
from environments import Tools


def run_block(block: Block, tools: Tools, runs: Run, env: dict[str, str]) -> str:
    """Runs a program beside all frameworks, and returns its output."""
    if block.is_python:
        return runs(tools.python, "-c", block.code, **env)
    return run_with_node(block, tools, tools.node_dir, runs, env)


def run_with_node(
    block: Block, tools: Tools, directory: Path, runs: Run, env: dict[str, str]
) -> str:
    """As a module beside `node_modules`; Node drops the types of TypeScript itself."""
    ending = "ts" if block.language in ("ts", "typescript") else "mjs"
    program = directory / f"program.{ending}"
    program.write_text(block.code)
    return runs(tools.node, program, cwd=directory, **env)
