"""Builds what users install: the wheel and the npm package, in the release profile."""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from places import NODE, PYTHON, ROOT, version

from environments import Tools
from installation import QUIETLY, digest, run, stamp, stamped


@dataclass(frozen=True)
class Packages:
    """The files that users install."""

    wheel: Path
    node_package: Path


def build(tools: Tools) -> Packages:
    """Both packages, in the build directory."""
    return Packages(build_wheel(tools), build_node_package(tools))


def build_wheel(tools: Tools) -> Path:
    out = emptied(tools.build_dir / "wheel")
    manifest = PYTHON / "Cargo.toml"
    maturin: list[str | Path] = [tools.python, "-m", "maturin", "build", "--release", "--locked"]
    run([*maturin, "--manifest-path", manifest, "--out", out])
    return only_file(out, "*.whl")


def build_node_package(tools: Tools) -> Path:
    install_compiler(tools)
    out = emptied(tools.build_dir / "node-package")
    addon = build_addon()
    env = {**os.environ, "npm_execpath": str(tools.npm)}
    run([tools.node, NODE / "build.mjs", addon, version(), "--out", out], env=env)
    return only_file(out, "*.tgz")


def install_compiler(tools: Tools) -> None:
    """What the package's own lock file names: the compiler of TypeScript, and types."""
    pins = digest([NODE / "package.json", NODE / "package-lock.json"], str(NODE))
    # The modules lie beside the source, what they were installed from in the build directory.
    mark = tools.build_dir / "compiler"
    mark.mkdir(exist_ok=True)
    if not ((NODE / "node_modules").exists() and stamped(mark, pins)):
        run([tools.node, tools.npm, "ci", *QUIETLY], cwd=NODE)
        stamp(mark, pins)


def build_addon() -> Path:
    """The compiled module, as cargo leaves it."""
    cargo = os.environ.get("CARGO", "cargo")
    command = [cargo, "build", "--release", "--locked", "--package=antiphon-node"]
    print("installing:", *command, flush=True)
    built = subprocess.run(
        [*command, "--message-format=json"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    if built.returncode:
        raise RuntimeError("the addon of the npm package does not build")
    messages = [json.loads(line) for line in built.stdout.splitlines()]
    [addon] = [file for message in messages for file in addon_files(message)]
    return Path(addon)


def addon_files(message: dict[str, object]) -> list[str]:
    """The library among the files that cargo says it made, if it is the addon's."""
    target, files = message.get("target"), message.get("filenames")
    if not isinstance(target, dict) or not isinstance(files, list):
        return []
    endings = (".so", ".dylib", ".dll")
    is_addon = target["name"] == "antiphon_node"
    return [file for file in files if is_addon and file.endswith(endings)]


def emptied(directory: Path) -> Path:
    directory.mkdir(exist_ok=True)
    for file in directory.iterdir():
        file.unlink()
    return directory


def only_file(directory: Path, pattern: str) -> Path:
    [file] = directory.glob(pattern)
    return file
