"""The command `antiphon`, in each way in which the packages install it."""

import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from places import version

from conftest import ALONE, PASSED_ON, RUN_TIMEOUT, Run
from environments import Tools

from servers import serving  # isort: skip

ANSWER_TIMEOUT = 30


@dataclass(frozen=True)
class Installed:
    """The words that run the command, and the variables that they need."""

    words: list[str | Path]
    env: dict[str, str] = field(default_factory=dict)


@pytest.fixture
def pip(clean_python: Path) -> Installed:
    """`pip install antiphon` into an empty environment."""
    return Installed([clean_python.parent / "antiphon"])


@pytest.fixture
def uvx(tools: Tools, wheel: Path, tmp_path: Path) -> Installed:
    """`uvx antiphon`, with the wheel in place of the index."""
    run = ["tool", "run", "--offline", "--no-config", "--python", sys.executable]
    words = [tools.python.parent / "uv", *run, "--from", wheel, "antiphon"]
    return Installed(words, {"UV_CACHE_DIR": str(tmp_path / "uv")})


@pytest.fixture
def npm(tools: Tools, clean_node_dir: Path) -> Installed:
    """`npm install antiphon` into an empty directory."""
    return Installed([clean_node_dir / "node_modules" / ".bin" / "antiphon"], with_node(tools.node))


@pytest.fixture
def npm_with_own_node(nodes: list[Path], clean_node_dir: Path) -> Installed:
    """With the machine's own Node, which may be too old to replace its process."""
    words = [clean_node_dir / "node_modules" / ".bin" / "antiphon"]
    return Installed([*words], with_node(nodes[-1]))


@pytest.fixture
def npx(tools: Tools, node_package: Path, tmp_path: Path) -> Installed:
    """`npx antiphon`, with the package's file in place of the registry."""
    run = [tools.npm.with_name("npx-cli.js"), "--yes", *ALONE]
    words: list[str | Path] = [*TO_ALL, tools.node, *run, "--package", node_package, "antiphon"]
    return Installed(words, {**with_node(tools.node), "npm_config_cache": str(tmp_path / "npm")})


# npm ends without the program that it started. A terminal's Ctrl-C reaches both, and so does the
# SIGTERM that `timeout` receives.
TO_ALL = ["timeout", str(RUN_TIMEOUT)]


def with_node(node: Path) -> dict[str, str]:
    return {"PATH": f"{node.parent}{os.pathsep}{os.environ['PATH']}"}


WAYS = ["pip", "uvx", "npm", "npm_with_own_node", "npx"]


@pytest.fixture(params=WAYS)
def installed(request: pytest.FixtureRequest) -> Installed:
    way = request.getfixturevalue(request.param)
    assert isinstance(way, Installed)
    return way


def test_it_has_the_packages_version(installed: Installed, runs: Run) -> None:
    printed = runs(*installed.words, "-V", **installed.env)
    assert printed.splitlines()[-1] == f"antiphon {version()}"


def test_it_serves_and_answers(installed: Installed, tmp_path: Path) -> None:
    serve = ["serve", "--listen", "127.0.0.1:0", "--store", "sqlite::memory:"]
    log = tmp_path / "gateway.log"
    passed_on = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    env = {**passed_on, **installed.env}

    with serving([*installed.words, *serve], log, cwd=tmp_path, env=env) as gateway:
        answer = ask(gateway.url, "My color is purple")

    assert answer["status"] == "completed"
    assert f"Base URL: {gateway.url}\n" in log.read_text()


def test_its_exit_code_is_passed_on(installed: Installed, tmp_path: Path, runs: Run) -> None:
    """A usage error has code 2, and a history with faults 1."""
    code = "import subprocess, sys; sys.exit(subprocess.call(sys.argv[2:]) != int(sys.argv[1]))"
    (tmp_path / "history.json").write_text('[{"type": "reasoning", "id": "rs_1", "summary": []}]')
    env = installed.env
    runs(sys.executable, "-c", code, "2", *installed.words, "serve", "--no-such-option", **env)
    runs(sys.executable, "-c", code, "1", *installed.words, "check", "history.json", **env)


def ask(url: str, text: str) -> dict[str, object]:
    """The gateway's response from its built-in model."""
    body = json.dumps({"model": "sim", "input": text}).encode()
    headers = {"content-type": "application/json", "authorization": "Bearer any"}
    with urlopen(Request(f"{url}/responses", body, headers), timeout=ANSWER_TIMEOUT) as response:
        return dict(json.load(response))
