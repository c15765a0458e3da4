"""Builds what users install: the wheel and the npm package, in the profile `optimized`.

Only the command in them is the binary of the tests, a debug build: the release of it takes minutes
more to build, and the workflows that publish build it.
"""

import os
import shutil
import sys
from pathlib import Path

from places import NODE, PYTHON, version

from environments import Tools
from installation import run


def build_wheel(tools: Tools, command: Path) -> Path:
    out = emptied(tools.build_dir / "wheel")
    manifest = PYTHON / "Cargo.toml"
    maturin: list[str | Path] = [tools.python, "-m", "maturin", "build", "--profile", "optimized"]
    run([*maturin, "--locked", "--manifest-path", manifest, "--out", out])
    wheel = only_file(out, "*.whl")
    add: list[str | Path] = [sys.executable, PYTHON / "add_command.py"]
    run([*add, "--command", without_debug_information(tools, command), wheel])
    return wheel


def build_node_package(tools: Tools, command: Path) -> Path:
    """With the addon in it; its compiler of TypeScript is the one that the tests have."""
    file = emptied(tools.build_dir / "node-package") / f"antiphon-{version()}.tgz"
    stripped = without_debug_information(tools, command)
    build: list[str | Path] = [NODE / "build.mjs", "--command", stripped, "--out", file]
    run([tools.node, *build], env=node_environment(tools))
    return file


def without_debug_information(tools: Tools, command: Path) -> Path:
    """A copy of the binary; the information is half of it, and takes long to compress and unpack.

    The binary itself if the machine has no program that strips one.
    """
    if shutil.which("strip") is None:
        return command
    stripped = tools.build_dir / "antiphon"
    run(["strip", "-S", "-o", stripped, command])
    return stripped


def node_environment(tools: Tools) -> dict[str, str]:
    """What the build of the npm package finds its tools by."""
    modules = tools.node_dir / "node_modules"
    return {
        **os.environ,
        "ANTIPHON_NODE_MODULES": str(modules),
        "npm_execpath": str(tools.npm),
    }


def emptied(directory: Path) -> Path:
    directory.mkdir(exist_ok=True)
    for file in directory.iterdir():
        file.unlink()
    return directory


def only_file(directory: Path, pattern: str) -> Path:
    [file] = directory.glob(pattern)
    return file
