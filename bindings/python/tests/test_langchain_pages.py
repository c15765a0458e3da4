"""Runs the programs of the pages for LangChain and LangGraph."""

import subprocess
import sys
from pathlib import Path

import pytest

from pages import PAGES, PROGRAM, refused_turns, runnable
from provider import Provider

PROGRAMS = [
    pytest.param(program, id=f"{page}-{number}")
    for page in ("langchain", "langgraph")
    for number, program in enumerate(PROGRAM.findall((PAGES / f"{page}.md").read_text()))
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_program_runs_without_rejections(
    provider: Provider, program: str, tmp_path: Path
) -> None:
    with runnable(program, provider, tmp_path) as code:
        told = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)

    assert told.returncode == 0, told.stderr.decode()
    assert told.stdout.decode().strip()
    assert refused_turns(provider) == provider.twice() == []
