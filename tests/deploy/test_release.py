"""The files of a release: a dry run of dist, with a script in the place of each binary."""

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
from typing import Any

import pytest
import tree_sitter_powershell
import tree_sitter_ruby
import yaml
from tree_sitter import Language, Parser

from conftest import DEPLOY, ROOT, dist

import additions  # isort: skip

VERSION = "1.2.3"
REPOSITORY = "https://github.com/OWNER/REPOSITORY"
DOWNLOADS = f"{REPOSITORY}/releases/download/v{VERSION}"

SETTINGS = tomllib.loads((ROOT / "dist-workspace.toml").read_text())
TARGETS = SETTINGS["dist"]["targets"]


def is_windows(target: str) -> bool:
    return "windows" in target


def archive_name(target: str) -> str:
    return f"antiphon-{target}{'.zip' if is_windows(target) else '.tar.gz'}"


def command_name(target: str) -> str:
    return "antiphon.exe" if is_windows(target) else "antiphon"


def program(target: str) -> str:
    """A script that stands for the binary of a target."""
    return f"#!/bin/sh\necho antiphon {VERSION} # {target}\n"


def write_commands(directory: Path) -> Path:
    """The binaries as the workflow downloads them: without the right to run."""
    for target in TARGETS:
        command = directory / f"command-{target}" / command_name(target)
        command.parent.mkdir(parents=True)
        command.write_text(program(target))
        command.chmod(0o644)
    return directory


def build(commands: Path, out: Path) -> subprocess.CompletedProcess[str]:
    script = DEPLOY / "release" / "build_release.py"
    command = [sys.executable, script, "--tag", f"v{VERSION}", "--repository", REPOSITORY]
    command += ["--commands", commands, "--out", out, "--dist", dist()]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory with the files, which no test changes."""
    directory = tmp_path_factory.mktemp("release")
    built = build(write_commands(directory / "commands"), directory / "files")
    assert built.returncode == 0, built.stderr
    return directory / "files"


def test_a_release_has_these_files(release: Path) -> None:
    archives = {archive_name(target) for target in TARGETS}
    checksums = {f"{name}.sha256" for name in archives}
    others = {"antiphon-installer.ps1", "antiphon-installer.sh", "antiphon.rb", "sha256.sum"}
    assert {file.name for file in release.iterdir()} == archives | checksums | others


@pytest.mark.parametrize("target", TARGETS)
def test_an_archive_has_the_binary_of_its_target(release: Path, target: str) -> None:
    names = {command_name(target), "LICENSE", "README.md"}
    if is_windows(target):
        with zipfile.ZipFile(release / archive_name(target)) as zipped:
            assert set(zipped.namelist()) == names
            assert zipped.read("antiphon.exe").decode() == program(target)
        return
    with tarfile.open(release / archive_name(target)) as archive:
        entries = {entry.name: entry for entry in archive.getmembers() if entry.isfile()}
        directory = f"antiphon-{target}"
        assert set(entries) == {f"{directory}/{name}" for name in names}
        command = entries[f"{directory}/antiphon"]
        assert command.mode & 0o777 == 0o755
        content = archive.extractfile(command)
        assert content is not None and content.read().decode() == program(target)


def test_a_release_needs_every_binary(tmp_path: Path) -> None:
    commands = write_commands(tmp_path / "commands")
    (commands / "command-x86_64-apple-darwin" / "antiphon").unlink()
    built = build(commands, tmp_path / "files")
    assert built.returncode != 0
    assert "command-x86_64-apple-darwin/antiphon*': No such file" in built.stderr
    assert not (tmp_path / "files").exists()


def test_the_checksums_are_those_of_the_archives(release: Path) -> None:
    lists = [release / "sha256.sum", *release.glob("*.sha256")]
    assert len(lists) == 1 + len(TARGETS)
    for file in lists:
        checked = subprocess.run(
            ["sha256sum", "--check", file.name], cwd=release, capture_output=True, text=True
        )
        assert checked.returncode == 0, checked.stderr
    assert additions.read_checksums(lists[0].read_text()) == checksums(release, TARGETS)


def checksums(release: Path, targets: list[str]) -> dict[str, str]:
    names = [archive_name(target) for target in targets]
    return {name: hashlib.sha256((release / name).read_bytes()).hexdigest() for name in names}


def test_the_formula_names_every_archive_with_its_checksum(release: Path) -> None:
    text = (release / "antiphon.rb").read_text()
    found = re.findall(rf'url "{DOWNLOADS}/(.*)"\n +sha256 "(.*)"', text)
    targets = [target for target in TARGETS if not is_windows(target)]
    assert len(found) == len(targets)
    assert dict(found) == checksums(release, targets)
    assert f'\n  version "{VERSION}"\n' in text


def test_the_formula_can_be_parsed(release: Path) -> None:
    source = (release / "antiphon.rb").read_bytes()
    parser = Parser(Language(tree_sitter_ruby.language()))
    assert not parser.parse(source).root_node.has_error
    assert parser.parse(source.removesuffix(b"end\n")).root_node.has_error


def test_the_formula_is_completed(release: Path) -> None:
    text = (release / "antiphon.rb").read_text()
    assert text.endswith(f"\n{additions.FORMULA_BLOCKS}end\n")
    install = text[text.index("  def install\n") : text.index("\n  end\n\n  service do\n")]
    assert 'bin/"antiphon", "completions"' in install
    assert install.index("bin.install") < install.index("completions") < install.index("man1")


def test_the_installer_for_powershell_checks_every_archive(release: Path) -> None:
    text = (release / "antiphon-installer.ps1").read_text()
    named = re.findall(r'"artifact_name" = "(.*)"\n +"sha256" = "(.*)"\n', text)
    assert text.count('"artifact_name" =') == len(named)
    assert dict(named) == checksums(release, [target for target in TARGETS if is_windows(target)])
    assert f'"{DOWNLOADS}"' in text
    downloaded, checked = text.index("-path $dir_path\n"), text.index("Get-FileHash")
    assert downloaded < checked < text.index("Expand-Archive")


def test_the_installer_for_powershell_renames_a_command_that_runs(release: Path) -> None:
    text = (release / "antiphon-installer.ps1").read_text()
    assert text.index("Move-Item") < text.index('Copy-Item "$bin_path" -Destination "$dest_dir"')


def test_the_installer_for_powershell_can_be_parsed(release: Path) -> None:
    source = (release / "antiphon-installer.ps1").read_bytes()
    parser = Parser(Language(tree_sitter_powershell.language()))
    assert not parser.parse(source).root_node.has_error
    assert parser.parse(source.replace(b"} catch {", b"} catch")).root_node.has_error


def test_an_addition_needs_its_place() -> None:
    with pytest.raises(ValueError, match="0 times; expected it once"):
        additions.complete_formula("class Antiphon < Formula\nend\n")
    with pytest.raises(ValueError, match="2 times; expected it once"):
        additions.insert("end\nend\n", "end\n", "")


@pytest.fixture
def served(release: Path, tmp_path: Path) -> Iterator["Served"]:
    """A copy of the release whose files an HTTP server has."""
    copy = Path(shutil.copytree(release, tmp_path / "files"))
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=copy)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield Served(copy, f"http://127.0.0.1:{server.server_port}", tmp_path / "home")
        finally:
            server.shutdown()
            thread.join()


class Served:
    """A release at an address, and a home into which it is installed."""

    def __init__(self, files: Path, url: str, home: Path) -> None:
        self.files, self.url, self.home = files, url, home

    def install(self, **env: str) -> subprocess.CompletedProcess[str]:
        self.home.mkdir(exist_ok=True)
        own = {"PATH": os.environ["PATH"], "HOME": str(self.home), "no_proxy": "127.0.0.1"}
        own["ANTIPHON_DOWNLOAD_URL"] = self.url
        shell, script = shutil.which("sh"), self.files / "antiphon-installer.sh"
        command = [str(shell), str(script)]
        return subprocess.run(command, env={**own, **env}, capture_output=True, text=True)

    def change_archives(self) -> None:
        for archive in self.files.glob("*.gz"):
            archive.write_bytes(archive.read_bytes() + b"\0")


def output_of(command: Path) -> str:
    return subprocess.run([command], capture_output=True, text=True, check=True).stdout


def test_the_installer_installs(served: Served) -> None:
    """Twice: the second time it replaces the command."""
    for _ in range(2):
        ended = served.install()
        assert (ended.returncode, ended.stderr.count("\n")) == (0, 1), ended.stderr
        directory = served.home / ".local" / "bin"
        assert [file.name for file in directory.iterdir()] == ["antiphon"]
        assert output_of(directory / "antiphon") == f"antiphon {VERSION}\n"


def test_the_installer_adds_its_directory_to_the_path(served: Served) -> None:
    assert served.install().returncode == 0
    shown = ["sh", "-c", '. "$HOME/.profile"; command -v antiphon']
    env = {"PATH": os.environ["PATH"], "HOME": str(served.home)}
    found = subprocess.run(shown, env=env, capture_output=True, text=True)
    assert found.stdout == f"{served.home}/.local/bin/antiphon\n"


def test_the_installer_leaves_the_path(served: Served) -> None:
    assert served.install(ANTIPHON_NO_MODIFY_PATH="1").returncode == 0
    assert not (served.home / ".profile").exists()


def test_the_installer_changes_one_directory(served: Served, tmp_path: Path) -> None:
    other = tmp_path / "other"
    assert served.install(ANTIPHON_UNMANAGED_INSTALL=str(other)).returncode == 0
    assert output_of(other / "antiphon") == f"antiphon {VERSION}\n"
    assert list(served.home.iterdir()) == []


def test_the_installer_uses_another_directory(served: Served, tmp_path: Path) -> None:
    other = tmp_path / "other place"
    assert served.install(ANTIPHON_INSTALL_DIR=str(other)).returncode == 0
    assert output_of(other / "antiphon") == f"antiphon {VERSION}\n"


def test_the_installer_rejects_a_changed_archive(served: Served) -> None:
    served.change_archives()
    ended = served.install()
    assert ended.returncode == 1
    assert "ERROR: checksum mismatch" in ended.stderr
    assert list(served.home.iterdir()) == []


def test_the_installer_checks_without_sha256sum(served: Served, tmp_path: Path) -> None:
    """As on an older macOS, which has `shasum`."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in os.environ["PATH"].split(os.pathsep):
        for file in Path(name).glob("*"):
            link = programs / file.name
            if file.name not in ("sha256sum", "shasum") and not link.exists():
                link.symlink_to(file)
    write_program(programs / "shasum", f'[ "$1 $2" = "-a 256" ] && {SHA256SUM} "$4"')
    assert served.install(PATH=str(programs)).returncode == 0
    served.change_archives()
    ended = served.install(PATH=str(programs))
    assert (ended.returncode, "checksum mismatch" in ended.stderr) == (1, True)


SHA256SUM = shutil.which("sha256sum")


def write_program(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_the_installer_rejects_another_platform(served: Served, tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    write_program(programs / "uname", "echo Plan9")
    ended = served.install(PATH=f"{programs}{os.pathsep}{os.environ['PATH']}")
    assert ended.returncode == 1
    assert "unrecognized OS type: Plan9" in ended.stderr


def workflow(name: str) -> dict[str, Any]:
    return dict(yaml.safe_load((ROOT / ".github" / "workflows" / name).read_text())["jobs"])


def test_the_workflow_has_a_binary_for_each_target() -> None:
    job = workflow("command.yml")["build"]
    assert job["steps"][-1]["with"]["name"] == "command-${{ matrix.target }}"
    rows = job["strategy"]["matrix"]["include"]
    assert {row["target"] for row in rows} == set(TARGETS)


def test_the_workflow_builds_and_installs(tmp_path: Path) -> None:
    """Its steps after the download, in a directory that looks like a checkout."""
    for name in ("LICENSE", "README.md", "deploy", "dist-workspace.toml"):
        (tmp_path / name).symlink_to(ROOT / name)
    steps = workflow("publish-release.yml")["files"]["steps"]
    [download] = [step for step in steps if step.get("with", {}).get("pattern") == "command-*"]
    write_commands(tmp_path / download["with"]["path"])
    for step in steps[steps.index(download) + 1 : -1]:
        env = {"PATH": f"{dist().parent}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path)}
        env |= {"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "OWNER/REPOSITORY"}
        env |= {"GITHUB_REF_NAME": f"v{VERSION}"}
        command = ["bash", "-e", "-o", "pipefail", "-c", step["run"]]
        ended = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr
    assert steps[-1]["with"]["path"] == "release"
    assert DOWNLOADS in (tmp_path / "release" / "antiphon.rb").read_text()
    assert (tmp_path / ".local" / "bin" / "antiphon").exists()


def test_cargo_binstall_finds_the_archives(release: Path) -> None:
    """It tries the names of all targets that a machine can run, musl's on every Linux."""
    manifest = tomllib.loads((ROOT / "crates" / "antiphon-cli" / "Cargo.toml").read_text())
    binstall = manifest["package"]["metadata"]["binstall"]
    for target in TARGETS:
        own = {**binstall, **binstall["overrides"].get(target, {})}
        assert own["pkg-fmt"] == ("zip" if is_windows(target) else "tgz")
        url = own["pkg-url"].replace("{ repo }", REPOSITORY).replace("{ version }", VERSION)
        assert url.replace("{ target }", target) == f"{DOWNLOADS}/{archive_name(target)}"
        path = own["bin-dir"].replace("{ target }", target)
        path = path.replace("{ bin }{ binary-ext }", command_name(target))
        assert path in names_in(release / archive_name(target))


def test_cargo_can_publish_the_command() -> None:
    """And every crate that it needs."""
    shared = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["dependencies"]
    found, pending = set(), {"antiphon-cli"}
    while pending:
        name = pending.pop()
        found.add(name)
        crate = tomllib.loads((ROOT / "crates" / name / "Cargo.toml").read_text())
        assert "publish" not in crate["package"], name
        needed = {dependency for dependency in crate["dependencies"] if "path" in shared[dependency]}
        assert all("version" in shared[dependency] for dependency in needed)
        pending |= needed - found
    assert {"antiphon", "antiphon-gateway", "antiphon-store"} < found


def names_in(archive: Path) -> list[str]:
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as zipped:
            return zipped.namelist()
    with tarfile.open(archive) as tar:
        return tar.getnames()
