"""The programs of the pages in `docs/frameworks`, and the gateway that some of them use."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from provider import ROOT, Provider, antiphon

from servers import start_gateway  # isort: skip
from setups import SETUPS  # isort: skip

PAGES = ROOT / "docs" / "frameworks"
PROGRAM = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# The address of the gateway in the pages.
GATEWAY = "http://127.0.0.1:8484/v1"


@contextmanager
def runnable(program: str, provider: Provider, directory: Path) -> Iterator[str]:
    """The program. If it names the gateway, one runs for the block, and the program has its
    address.
    """
    if GATEWAY not in program:
        yield program
        return
    with start_gateway(
        SETUPS["kept-part"], antiphon(), directory, directory, provider.url, telemetry={}
    ) as gateway:
        yield program.replace(GATEWAY, gateway.url)


def refused_turns(provider: Provider) -> list[str]:
    """The errors of turns. A gateway's requests for capabilities are refused on purpose."""
    refusals = [entry["refusal"] for entry in provider.requests()]
    return [refusal["message"] for refusal in refusals if refusal]
