"""The npm package: what is in it, of which version, and in which modules it can be used."""

import json
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from places import NODE, ROOT, version

from building import node_environment
from conftest import ALONE, Run
from environments import PACKAGE, Tools
from installation import run
from provider import antiphon

# As the names of sections stand in a library.
DEBUG_SECTION = b"\0.debug_info\0"

ESM = 'import * as antiphon from "antiphon";\n'
CJS = 'const antiphon = require("antiphon");\n'
REPAIR = """\
const call = { type: "function_call", call_id: "call_1", name: "echo", arguments: "{}" };
const { items } = antiphon.repair([call]);
console.log(items.length, items[0] === call, items[1].type);
"""


@pytest.fixture(scope="module")
def files(node_package: Path) -> dict[str, bytes]:
    with tarfile.open(node_package) as archive:
        opened = {member.name: archive.extractfile(member) for member in archive.getmembers()}
        return {name.removeprefix("package/"): file.read() for name, file in opened.items() if file}


@pytest.fixture(scope="module")
def manifest(files: dict[str, bytes]) -> dict[str, Any]:
    return dict(json.loads(files["package.json"]))


def test_it_has_the_workspaces_version(
    manifest: dict[str, Any], files: dict[str, bytes], clean_node_dir: Path, tools: Tools, runs: Run
) -> None:
    assert manifest["version"] == version()
    [addon] = addons(files)
    program = f"console.log(require('./node_modules/antiphon/{addon}').version())"
    assert runs(tools.node, "-e", program, cwd=clean_node_dir) == f"{version()}\n"


def test_it_holds_the_package_and_nothing_else(files: dict[str, bytes]) -> None:
    others = {"package.json", "README.md", "LICENSE", *addons(files), LAUNCHER, *commands(files)}
    unexpected = [name for name in files if name not in others and not name.startswith("dist/")]
    assert unexpected == []
    assert [name for name in files if "/test/" in name or name.endswith(".test.js")] == []
    assert files["LICENSE"] == (ROOT / "LICENSE").read_bytes()


def test_its_addon_is_a_release(files: dict[str, bytes]) -> None:
    [addon] = addons(files)
    assert DEBUG_SECTION not in files[addon]


def test_it_has_a_command_for_the_platform_of_its_addon(
    manifest: dict[str, Any], files: dict[str, bytes]
) -> None:
    assert manifest["bin"] == {"antiphon": LAUNCHER}
    [addon], [command] = addons(files), commands(files)
    assert command == f"bin/antiphon-{addon.split('.')[1]}"


def test_what_it_exports_is_there(manifest: dict[str, Any], files: dict[str, bytes]) -> None:
    exported = list(paths(manifest["exports"]))
    assert [path for path in exported if path.removeprefix("./") not in files] == []


def test_it_needs_nothing(manifest: dict[str, Any]) -> None:
    assert manifest.get("dependencies", {}) == {}
    assert manifest["engines"] == {"node": ">=20"}


@pytest.mark.parametrize(("name", "head"), [("program.mjs", ESM), ("program.cjs", CJS)])
def test_it_is_used_from_both_kinds_of_modules(
    name: str, head: str, nodes: list[Path], clean_node_dir: Path, runs: Run
) -> None:
    (clean_node_dir / name).write_text(head + REPAIR)
    for node in nodes:
        assert runs(node, name, cwd=clean_node_dir) == "2 true function_call_output\n"


@pytest.mark.parametrize("name", ["typed.mts", "typed.cts"])
def test_a_users_program_has_types(
    name: str, tools: Tools, clean_node_dir: Path, runs: Run
) -> None:
    (clean_node_dir / name).write_text(PROGRAM)
    modules = tools.node_dir / "node_modules"
    compiler = modules / "typescript" / "bin" / "tsc"
    options = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext"]
    types = ["--types", "node", "--typeRoots", modules / "@types"]
    runs(tools.node, compiler, *options, *types, name, cwd=clean_node_dir)


def test_what_is_published_is_in_two_parts(
    node_package: Path, files: dict[str, bytes], tools: Tools, tmp_path: Path, runs: Run
) -> None:
    """The package asks for its addon in its own version, and finds it beside itself."""
    [addon] = addons(files)
    (tmp_path / addon).write_bytes(files[addon])
    build: list[str | Path] = [NODE / "build.mjs", "--split", "--out", tmp_path]
    build += ["--addon", tmp_path / addon, "--command", antiphon()]
    run([tools.node, *build], env=node_environment(tools))
    parts = sorted(tmp_path.glob("*.tgz"))
    assert len(parts) == 2
    run([tools.node, tools.npm, "install", *ALONE, *parts], cwd=tmp_path)

    modules = tmp_path / "node_modules"
    assert not list((modules / "antiphon").glob("*.node"))
    asked_for = json.loads((modules / "antiphon" / "package.json").read_text())
    assert set(asked_for["optionalDependencies"].values()) == {version()}
    assert not commands_below(modules / "antiphon")
    (tmp_path / "program.cjs").write_text(CJS + REPAIR)
    assert runs(tools.node, "program.cjs") == "2 true function_call_output\n"
    launcher = modules / "antiphon" / LAUNCHER
    assert runs(tools.node, launcher, "-V") == f"antiphon {version()}\n"


def test_a_package_without_a_command_says_so(
    clean_node_dir: Path, tools: Tools, tmp_path: Path
) -> None:
    package = tmp_path / "antiphon"
    shutil.copytree(clean_node_dir / "node_modules" / "antiphon", package)
    for command in commands_below(package):
        command.unlink()
    ended = subprocess.run(
        [tools.node, package / LAUNCHER, "--version"], capture_output=True, text=True
    )
    assert ended.returncode == 1
    assert re.fullmatch(NO_COMMAND, ended.stderr)


def test_one_compiler_is_pinned() -> None:
    """What is published is compiled as what is tested."""
    ours, own = (json.loads(file.read_text()) for file in (PACKAGE[0], NODE / "package.json"))
    compiled_by = own["devDependencies"]
    assert {name: ours["dependencies"][name] for name in compiled_by} == compiled_by


PROGRAM = """\
import { check, repair, type Fault } from "antiphon";

export function whole(items: object[]): object[] {
  const faults: Fault[] = check(items);
  for (const { position, message } of faults) console.log(position, message);
  return repair(items).items;
}
"""


LAUNCHER = "bin/antiphon.js"

NO_COMMAND = r"error: antiphon has no command for \w+ on \w+: install antiphon with its optional .*\n"


def commands(files: Iterable[str]) -> list[str]:
    """The binaries of the command."""
    return [name for name in files if name.startswith("bin/") and name != LAUNCHER]


def commands_below(package: Path) -> list[Path]:
    return list((package / "bin").glob("antiphon-*"))


def addons(files: dict[str, bytes]) -> list[str]:
    return [name for name in files if name.endswith(".node")]


def paths(exports: Any) -> list[str]:
    """All files that an `exports` names, at any depth."""
    if isinstance(exports, str):
        return [exports]
    return [path for value in exports.values() for path in paths(value)]
