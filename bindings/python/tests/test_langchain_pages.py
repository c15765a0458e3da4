"""Runs the programs of the pages for LangChain and LangGraph unmodified."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from provider import ROOT, Provider

PAGES = Path(os.environ.get("ANTIPHON_REPOSITORY", ROOT)) / "docs" / "frameworks"
PROGRAM = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def programs() -> list[object]:
    pages = [PAGES / "langchain.md", PAGES / "langgraph.md"]
    return [
        pytest.param(program, id=f"{page.stem}-{number}")
        for page in pages
        for number, program in enumerate(PROGRAM.findall(page.read_text()))
    ]


@pytest.mark.parametrize("program", programs())
def test_program_runs_without_rejections(provider: Provider, program: str) -> None:
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)

    assert told.returncode == 0, told.stderr.decode()
    assert told.stdout.decode().strip()
    assert provider.refusals() == provider.twice() == []
