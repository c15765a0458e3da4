"""What the tests of the artefacts start from: the files that users install, and empty places."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import places  # noqa: F401  (the ways to the modules below)

from environments import INSTALL_FILE, Tools, new_environment, packages_of
from installation import QUIETLY, Installation, run
from provider import Provider, start_provider

RUN_TIMEOUT = 200

# What reaches a program that is run as a user runs it.
PASSED_ON = ("PATH", "HOME", "TMPDIR", "LANG")

Run = Callable[..., str]


@pytest.fixture(scope="session")
def tools() -> Tools:
    """The interpreters, with every framework and the packages."""
    build_dir, clients_dir = (Path(os.environ[name]) for name in PLACES)
    return Tools(build_dir, Installation(clients_dir))


PLACES = ("ANTIPHON_BUILD_DIR", "ANTIPHON_CLIENTS_DIR")


@pytest.fixture(scope="session")
def wheel() -> Path:
    return Path(os.environ["ANTIPHON_WHEEL"])


@pytest.fixture(scope="session")
def node_package() -> Path:
    return Path(os.environ["ANTIPHON_NODE_PACKAGE"])


@pytest.fixture(scope="session")
def clean_python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment that has the wheel and nothing else."""
    environment = tmp_path_factory.mktemp("clean") / "venv"
    new_environment(environment)
    python = environment / "bin" / "python"
    run([python, "-m", "pip", *INSTALL_FILE, wheel])
    installed = {path.stem.split("-")[0] for path in packages_of(environment).glob("*.dist-info")}
    assert installed <= {"antiphon", "pip", "setuptools"}
    return python


@pytest.fixture(scope="session")
def nodes(tools: Tools) -> list[Path]:
    """The newest Node, and this machine's own if it is one that the package is for."""
    own = shutil.which("node")
    return [tools.node, Path(own)] if own and major(Path(own)) >= OLDEST_NODE else [tools.node]


OLDEST_NODE = 20


def major(node: Path) -> int:
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=True)
    return int(said.stdout.removeprefix("v").split(".")[0])


@pytest.fixture(scope="session")
def clean_node_dir(
    tools: Tools, node_package: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A directory in which a user said `npm install antiphon`, and has nothing else."""
    directory = tmp_path_factory.mktemp("clean-node")
    run([tools.node, tools.npm, "install", *ALONE, node_package], cwd=directory)
    installed = {path.name for path in (directory / "node_modules").glob("[!.]*")}
    assert installed == {"antiphon"}
    return directory


# npm looks nothing up, and tells nobody.
ALONE = ["--offline", *QUIETLY]


@pytest.fixture
def runs(tmp_path: Path) -> Run:
    """Runs a program that must succeed, and returns what it printed."""

    def succeeding(*command: str | Path, cwd: Path = tmp_path, **env: str) -> str:
        passed_on = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        ended = subprocess.run(
            command,
            cwd=cwd,
            env={**passed_on, **env},
            timeout=RUN_TIMEOUT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert ended.returncode == 0, ended.stdout
        return ended.stdout

    return succeeding


@pytest.fixture
def provider(tmp_path: Path) -> Iterator[Provider]:
    """A fresh strict provider."""
    with start_provider(tmp_path) as started:
        yield started


@pytest.fixture
def at_provider(provider: Provider) -> dict[str, str]:
    """The settings with which a program arrives at the provider."""
    return {
        "OPENAI_BASE_URL": provider.url,
        "OPENAI_API_KEY": provider.key,
        "OPENAI_AGENTS_DISABLE_TRACING": "true",
        "NO_PROXY": "127.0.0.1",
        "no_proxy": "127.0.0.1",
    }
