"""Where the packages are tested: beside every framework, and alone."""

import os
import shutil
import sys
import tarfile
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

from places import HERE, NODE, ROOT

from installation import QUIETLY, Installation, digest, locked, run, stamp, stamped, with_python

REQUIREMENTS = HERE / "requirements.txt"
PACKAGE = [HERE / "node" / "package.json", HERE / "node" / "package-lock.json"]


@dataclass(frozen=True)
class Tools:
    """What builds the packages, and the frameworks that they are tested with."""

    build_dir: Path
    clients: Installation

    @property
    def python(self) -> Path:
        """The interpreter that has all frameworks and the wheel."""
        return self.build_dir / "venv" / "bin" / "python"

    @property
    def node_dir(self) -> Path:
        """The directory whose `node_modules` has all frameworks and the npm package."""
        return self.build_dir / "node"

    @property
    def node(self) -> Path:
        """Node, as a Python wheel brings it."""
        return self.clients.node

    @property
    def npm(self) -> Path:
        """npm's script, to be run by `node`."""
        return self.clients.npm


def install_tools(build_dir: Path, clients_dir: Path) -> Tools:
    """The tools, installed if their pins changed; the Python clients are those of the suites."""
    build_dir.mkdir(parents=True, exist_ok=True)
    tools = Tools(build_dir, with_python(clients_dir))
    with locked(build_dir / "install.lock"):
        python_pins = digest([REQUIREMENTS], sys.version, str(clients_dir))
        if not stamped(build_dir / "venv", python_pins):
            install_python(tools)
            stamp(build_dir / "venv", python_pins)
        node_pins = digest(PACKAGE)
        if not stamped(tools.node_dir, node_pins):
            install_node(tools)
            stamp(tools.node_dir, node_pins)
    return tools


def install_python(tools: Tools) -> None:
    """An environment that sees the clients' packages, and has more of its own."""
    new_environment(tools.build_dir / "venv")
    clients_packages = packages_of(tools.clients.build_dir / "venv")
    (packages_of(tools.build_dir / "venv") / "clients.pth").write_text(f"{clients_packages}\n")
    run([tools.python, "-m", "pip", "install", "--quiet", "-r", REQUIREMENTS])


def install_node(tools: Tools) -> None:
    shutil.rmtree(tools.node_dir, ignore_errors=True)
    tools.node_dir.mkdir()
    for file in PACKAGE:
        shutil.copy(file, tools.node_dir)
    run([tools.node, tools.npm, "ci", *QUIETLY], cwd=tools.node_dir)


def install_dist(tools: Tools) -> Path:
    """dist, which builds the files of a release, in the version that the release needs."""
    settings = tomllib.loads((ROOT / "dist-workspace.toml").read_text())
    version = settings["dist"]["cargo-dist-version"]
    root = tools.build_dir / f"dist-{version}"
    with locked(tools.build_dir / "install.lock"):
        if not (root / "bin" / "dist").exists():
            with tempfile.TemporaryDirectory(dir=tools.build_dir) as target:
                install = ["cargo", "install", "cargo-dist", "--version", version, *CHEAPLY]
                # Nobody debugs it, and it takes less time and space like this.
                env = {**os.environ, "CARGO_PROFILE_DEV_DEBUG": "0"}
                run([*install, "--root", root, "--target-dir", target], env=env)
    return root / "bin" / "dist"


CHEAPLY = ["--locked", "--quiet", "--debug"]


def add_wheel(tools: Tools, wheel: Path) -> None:
    """Puts this wheel beside the frameworks, in the place of the one before."""
    run([tools.python, "-m", "pip", *INSTALL_FILE, "--force-reinstall", wheel])


def add_node_package(tools: Tools, node_package: Path) -> None:
    """Puts this package beside the frameworks, and the tests beside all of them.

    Modules are found from where a file is, so the tests run as copies.
    """
    unpack(node_package, tools.node_dir / "node_modules" / "antiphon")
    tests = tools.node_dir / "test"
    shutil.rmtree(tests, ignore_errors=True)
    shutil.copytree(NODE / "test", tests)


def unpack(node_package: Path, directory: Path) -> None:
    """As npm unpacks a package: what is below its one directory."""
    shutil.rmtree(directory, ignore_errors=True)
    unpacked = directory.parent / ".antiphon-unpacked"
    shutil.rmtree(unpacked, ignore_errors=True)
    with tarfile.open(node_package) as archive:
        archive.extractall(unpacked, filter="data")
    (unpacked / "package").rename(directory)
    unpacked.rmdir()


def new_environment(directory: Path) -> None:
    """An empty virtual environment."""
    shutil.rmtree(directory, ignore_errors=True)
    run([sys.executable, "-m", "venv", directory])


def packages_of(environment: Path) -> Path:
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return environment / "lib" / version / "site-packages"


# A wheel alone, from its file: nothing is looked up.
INSTALL_FILE = ["install", "--quiet", "--no-index", "--no-deps", "--disable-pip-version-check"]
