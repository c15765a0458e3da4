"""A strict provider with state for one test: `antiphon mock` (see docs/mock.md)."""

import json
import os
import shutil
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import Request, urlopen

ROOT = Path(__file__).parents[3]

# Servers are started like those of the client suites.
sys.path.append(str(ROOT / "tests" / "clients"))

from servers import serving  # noqa: E402

TIMEOUT = 10

Item = dict[str, Any]

T = TypeVar("T")


@dataclass(frozen=True)
class Provider:
    """The provider at `url`, and its records for callers with `key`."""

    url: str
    key: str = "sk-tests"

    @property
    def root(self) -> str:
        """The base URL of its log and its controls."""
        address = urlsplit(self.url)
        return f"{address.scheme}://{address.netloc}"

    def log(self) -> list[Item]:
        """All requests so far: the entries of `GET /log`."""
        return list(fetch(f"{self.root}/log"))

    def requests(self) -> list[Item]:
        """The log entries of all turns, including rejected ones."""
        return [entry for entry in self.log() if is_request_for_answer(entry)]

    def turns(self) -> list[list[Item]]:
        """The model's input in each accepted turn, oldest item first."""
        return [entry["given"] for entry in self.requests() if not entry["refusal"]]

    def sent(self) -> list[Any]:
        """The `input` of each accepted turn, as it was received."""
        return [entry["body"].get("input") for entry in self.requests() if not entry["refusal"]]

    def twice(self) -> list[str]:
        """The duplicates in the model's input, of all turns."""
        return [item for entry in self.requests() for item in entry["twice"]]

    def refusals(self) -> list[str]:
        """The error messages of all rejected requests."""
        return [entry["refusal"]["message"] for entry in self.log() if entry["refusal"]]

    def new_conversation(self, items: list[Item] | None = None) -> str:
        """Creates a conversation with these items. Returns its id."""
        body = {"items": items} if items else {}
        return str(fetch(f"{self.url}/conversations", self.key, body)["id"])

    def items(self, conversation: str) -> list[Item]:
        """The stored items of a conversation, oldest first."""
        path = f"conversations/{quote(conversation)}/items?order=asc&limit=100"
        return list(fetch(f"{self.url}/{path}", self.key)["data"])

    def hold(self, place: str) -> None:
        """Stops the next streamed answer at a place until the reader disconnects."""
        self._control("hold", token=self.key, at=place)

    def on_abort(self, outcome: str) -> None:
        """Changes the part of an abandoned turn that is stored: `part`, `whole` or `nothing`."""
        self._control("on-abort", outcome=outcome)

    def lose(self, response: str) -> None:
        """Makes the provider forget a response, as if it had expired."""
        self._control("lose", response=response)

    def wait_until_idle(self) -> None:
        """Waits until no turn is open: the provider has then noticed every disconnect."""
        self._control("idle")

    def _control(self, command: str, **query: str) -> None:
        fetch(f"{self.root}/{command}?{urlencode(query)}", self.key, "")


@contextmanager
def start_provider(
    directory: Path,
    on_abort: str = "part",
    profile: str = "openai",
    script: list[Item] | None = None,
) -> Iterator[Provider]:
    """A strict provider for the block. Its log and script are in the directory."""
    command: list[str | Path] = [
        antiphon(),
        *["mock", "--listen", "127.0.0.1:0", "--seed", "tests"],
        *["--on-abort", on_abort, "--profile", profile],
    ]
    if script is not None:
        script_file = directory / "script.json"
        script_file.write_text(json.dumps(script))
        command += ["--script", script_file]
    with serving(command, directory / "provider.log") as server:
        yield Provider(server.url)


def antiphon() -> Path:
    """The program: from ANTIPHON_BIN, else from the PATH, else from the cargo build."""
    if named := os.environ.get("ANTIPHON_BIN"):
        return Path(named).resolve()
    if found := shutil.which("antiphon"):
        return Path(found)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / "debug" / "antiphon"


def once_free(ask: Callable[[], T]) -> T:
    """Calls `ask` until the conversation is no longer locked by an abandoned turn."""
    until = time.monotonic() + TIMEOUT
    while True:
        try:
            return ask()
        except Exception as refusal:
            if not is_locked(refusal) or time.monotonic() > until:
                raise


async def once_free_again(ask: Callable[[], Awaitable[T]]) -> T:
    """The same as `once_free`, for an async function."""
    until = time.monotonic() + TIMEOUT
    while True:
        try:
            return await ask()
        except Exception as refusal:
            if not is_locked(refusal) or time.monotonic() > until:
                raise


def is_locked(refusal: Exception) -> bool:
    return "Another process is currently operating" in str(refusal)


def is_request_for_answer(entry: Item) -> bool:
    """Whether an entry is a turn. Azure's clients have other paths than `/v1/responses`."""
    return entry["method"] == "POST" and entry["path"].endswith("/responses")


def fetch(url: str, key: str | None = None, body: Any = None) -> Any:
    """The JSON answer of a server of this machine; a request with a body is a POST."""
    headers = {"content-type": "application/json"}
    if key:
        headers["authorization"] = f"Bearer {key}"
    content = None if body is None else json.dumps(body).encode()
    with urlopen(Request(url, data=content, headers=headers), timeout=TIMEOUT) as response:
        return json.loads(response.read() or b"null")
