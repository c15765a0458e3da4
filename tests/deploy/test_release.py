"""The files of a release: the archives, the installer, the formula, and `cargo binstall`."""

import functools
import hashlib
import http.server
import os
import re
import shutil
import subprocess
import sys
import tarfile
import threading
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import tree_sitter_powershell
import yaml
from tree_sitter import Language, Parser

from conftest import DEPLOY, ROOT

import assemble  # isort: skip

VERSION = "1.2.3"

# In place of the binary; of that, the archive knows nothing.
PROGRAM = f"#!/bin/sh\necho antiphon {VERSION}\n"


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """The directory with the files."""
    return assembled(tmp_path, "http://127.0.0.1:0/files")


def assembled(directory: Path, url: str) -> Path:
    program, out = directory / "program", directory / "files"
    program.write_text(PROGRAM)
    script = DEPLOY / "release" / "assemble.py"
    command = [sys.executable, script, "--version", VERSION, "--url", url]
    command += ["--homepage", "https://antiphon.example", "--out", out]
    subprocess.run([*command, *(f"{target}={program}" for target in assemble.PLATFORMS)], check=True)
    return out


def test_there_is_an_archive_for_each_platform(release: Path) -> None:
    names = {
        f"antiphon-{VERSION}-{target}{'.zip' if 'windows' in target else '.tar.gz'}"
        for target in assemble.PLATFORMS
    }
    others = {"SHA256SUMS", "antiphon.rb", "install.ps1", "install.sh"}
    assert {file.name for file in release.iterdir()} == names | others
    for file in release.glob("*.tar.gz"):
        with tarfile.open(file) as archive:
            modes = {entry.name: entry.mode for entry in archive.getmembers()}
        assert modes == {"antiphon": 0o755, "LICENSE": 0o644, "README.md": 0o644}
    for file in release.glob("*.zip"):
        with zipfile.ZipFile(file) as archive:
            assert archive.namelist() == ["antiphon.exe", "LICENSE", "README.md"]
            assert archive.read("antiphon.exe").decode() == PROGRAM


def test_the_checksums_are_those_of_the_archives(release: Path) -> None:
    checked = subprocess.run(
        ["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=release, capture_output=True
    )
    assert checked.returncode == 0, checked.stderr
    assert len((release / "SHA256SUMS").read_text().splitlines()) == len(assemble.PLATFORMS)


def test_the_formula_names_every_archive_with_its_checksum(release: Path) -> None:
    text = (release / "antiphon.rb").read_text()
    found = re.findall(r'url "http://127.0.0.1:0/files/(.*)"\n +sha256 "(.*)"', text)
    assert {name: checksum for name, checksum in found} == {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in release.glob("*.gz")
    }
    assert not re.search(r"@[A-Z]+@", text)


def archive_files(release: Path) -> list[Path]:
    return [*release.glob("*.gz"), *release.glob("*.zip")]


def test_the_installer_for_powershell_names_every_archive(release: Path) -> None:
    text = (release / "install.ps1").read_text()
    found = re.findall(r"^'(.*)' = @\{ Name = '(.*)'; Sha256 = '(.*)' \}$", text, re.MULTILINE)
    platforms = {platform.powershell for platform in assemble.PLATFORMS.values()}
    assert {platform for platform, _, _ in found} == platforms
    assert {name: checksum for _, name, checksum in found} == {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in archive_files(release)
    }
    # It unpacks each with the program for its form, and finds the command in it.
    for platform, name, _ in found:
        assert name.endswith(".zip") == platform.startswith("Windows ")
    for platform in assemble.PLATFORMS.values():
        assert f"$name = '{platform.command}'" in text
    assert 'Uri "http://127.0.0.1:0/files/$($archive.Name)"' in text
    assert not re.search(r"@[A-Z]+@", text)


def test_the_installer_for_powershell_can_be_parsed(release: Path) -> None:
    source = (release / "install.ps1").read_bytes()
    parser = Parser(Language(tree_sitter_powershell.language()))
    assert not parser.parse(source).root_node.has_error
    assert parser.parse(source.replace(b"finally {", b"finally")).root_node.has_error


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Path]:
    """A release whose files an HTTP server has."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield assembled(tmp_path, f"http://127.0.0.1:{server.server_port}/files/")
        finally:
            server.shutdown()
            thread.join()


def install(release: Path, home: Path, **env: str) -> subprocess.CompletedProcess[str]:
    home.mkdir(exist_ok=True)
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "no_proxy": "127.0.0.1", **env}
    command = ["sh", release / "install.sh"]
    return subprocess.run(command, env=env, capture_output=True, text=True)


def test_the_installer_installs(served: Path, tmp_path: Path) -> None:
    """Twice: the second time it replaces the command."""
    home = tmp_path / "home"
    for _ in range(2):
        ended = install(served, home)
        assert (ended.returncode, ended.stderr) == (0, "")
        path = home / ".local" / "bin"
        assert ended.stdout == f"antiphon {VERSION}\nAdd {path} to your PATH.\n"
        assert [file.name for file in path.iterdir()] == ["antiphon"]


def test_the_installer_uses_another_directory(served: Path, tmp_path: Path) -> None:
    other = tmp_path / "other place"
    path = f"{other}{os.pathsep}{os.environ['PATH']}"
    ended = install(served, tmp_path / "home", ANTIPHON_INSTALL_DIR=str(other), PATH=path)
    assert (ended.returncode, ended.stdout) == (0, f"antiphon {VERSION}\n")
    assert (other / "antiphon").read_text() == PROGRAM


def test_the_installer_rejects_a_changed_archive(served: Path, tmp_path: Path) -> None:
    for archive in served.glob("*.gz"):
        archive.write_bytes(archive.read_bytes() + b"\0")
    ended = install(served, tmp_path / "home")
    assert ended.returncode == 1
    assert re.search(r"error: antiphon-.* has the checksum \w+; expected \w+", ended.stderr)
    assert list((tmp_path / "home").iterdir()) == []


def test_the_installer_rejects_another_platform(served: Path, tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "uname").write_text("#!/bin/sh\necho Plan9\n")
    (programs / "uname").chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    ended = install(served, tmp_path / "home", PATH=path)
    assert ended.returncode == 1
    assert "error: there is no binary for Plan9 Plan9" in ended.stderr


@pytest.mark.skipif(shutil.which("pwsh") is None, reason="this machine has no PowerShell")
def test_the_installer_for_powershell_installs(served: Path, tmp_path: Path) -> None:
    """Twice: the second time it replaces the command."""
    env = {**os.environ, "ANTIPHON_INSTALL_DIR": str(tmp_path / "bin"), "no_proxy": "127.0.0.1"}
    command = ["pwsh", "-NoProfile", "-File", served / "install.ps1"]
    for _ in range(2):
        ended = subprocess.run(command, env=env, capture_output=True, text=True)
        assert (ended.returncode, ended.stderr) == (0, "")
        assert ended.stdout == f"antiphon {VERSION}\nAdd {tmp_path / 'bin'} to your PATH.\n"
        assert (tmp_path / "bin" / "antiphon").read_text() == PROGRAM
    for archive in served.glob("*.gz"):
        archive.write_bytes(archive.read_bytes() + b"\0")
    ended = subprocess.run(command, env=env, capture_output=True, text=True)
    assert ended.returncode != 0
    assert re.search(r"antiphon-.* has the checksum \w+; expected \w+", ended.stderr)


def test_the_workflow_has_a_binary_for_each_platform() -> None:
    workflows = ROOT / ".github" / "workflows"
    rows = yaml.safe_load((workflows / "command.yml").read_text())["jobs"]["build"]["strategy"]
    assert {row["target"] for row in rows["matrix"]["include"]} == set(assemble.PLATFORMS)
    text = (workflows / "publish-release.yml").read_text()
    for target in assemble.PLATFORMS:
        file = f"command-{target}/{assemble.PLATFORMS[target].command}"
        assert f"{target}={file}" in text.split()


def test_cargo_binstall_finds_the_archives(release: Path) -> None:
    """It tries the names of all targets that a machine can run, musl's on every Linux."""
    manifest = tomllib.loads((ROOT / "crates" / "antiphon-cli" / "Cargo.toml").read_text())
    binstall = manifest["package"]["metadata"]["binstall"]
    assert binstall["bin-dir"] == "{ bin }{ binary-ext }"
    for target, platform in assemble.PLATFORMS.items():
        own = {**binstall, **binstall["overrides"].get(target, {})}
        assert own["pkg-fmt"] == ("zip" if platform.is_windows else "tgz")
        head, _, name = own["pkg-url"].rpartition("/")
        assert head == "{ repo }/releases/download/v{ version }"
        filled = name.replace("{ version }", VERSION).replace("{ target }", target)
        assert (release / filled).is_file()
