"""Runs every program of the pages for the Agents SDK and Agent Framework."""

import subprocess
import sys
from pathlib import Path

import pytest

from pages import PAGES, PROGRAM, refused_turns, runnable
from provider import Provider

PROGRAMS = [
    pytest.param(program, id=f"{page}-{number}")
    for page in ("openai-agents", "agent-framework")
    for number, program in enumerate(PROGRAM.findall((PAGES / f"{page}.md").read_text()))
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_runs(provider: Provider, program: str, tmp_path: Path) -> None:
    with runnable(program, provider, tmp_path) as code:
        command = [sys.executable, "-c", code]
        ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)

    assert ended.returncode == 0, ended.stderr
    assert ended.stdout
    assert refused_turns(provider) == provider.twice() == []
