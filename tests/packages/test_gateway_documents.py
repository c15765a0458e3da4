"""The README and the pages about the gateway: their programs, commands and files work as they stand.

They name the default addresses; the tests write those of their own servers.
"""

import json
import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import places  # noqa: F401  (the ways to the modules below)

from conftest import Run
from documents import FENCED, blocks, uses_package
from environments import Tools
from places import ROOT
from provider import Provider, antiphon, start_provider

from servers import serving, start_gateway  # isort: skip
from setups import SETUPS  # isort: skip

README = ROOT / "README.md"
MOCK_PAGE = ROOT / "docs" / "mock.md"
SETTINGS_PAGE = ROOT / "docs" / "settings.md"

MOCK = "http://127.0.0.1:8485"
GATEWAY = "http://127.0.0.1:8484/v1"


def test_the_failure_of_the_readme_and_its_fix(
    tools: Tools, provider: Provider, runs: Run, tmp_path: Path
) -> None:
    program = program_with(MOCK, README)

    with pytest.raises(AssertionError, match="Duplicate item found with id msg_"):
        runs(tools.python, "-c", program.replace(MOCK, provider.root))
    with start_gateway(
        SETUPS["kept-part"], antiphon(), tmp_path, tmp_path, provider.url, telemetry={}
    ) as gateway:
        printed = runs(tools.python, "-c", program.replace(f"{MOCK}/v1", gateway.url))

    assert printed == "purple\n"
    assert len(provider.sent()[-1]) == 1


def test_the_built_in_model_answers(tools: Tools, runs: Run, tmp_path: Path) -> None:
    program = program_with(GATEWAY, README)
    command = [antiphon(), "serve", "--listen", "127.0.0.1:0", "--store", "sqlite::memory:"]

    with serving([*command], tmp_path / "gateway.log", cwd=tmp_path) as gateway:
        printed = runs(tools.python, "-c", program.replace(GATEWAY, gateway.url))

    assert "purple" in printed and "Biscuit" in printed


@pytest.mark.parametrize("page", ["chat-completions", "messages", "gemini"])
def test_the_program_of_an_api_runs(page: str, tools: Tools, runs: Run, tmp_path: Path) -> None:
    [program] = blocks(ROOT / "docs" / f"{page}.md")
    command = [antiphon(), "serve", "--listen", "127.0.0.1:0", "--store", "sqlite::memory:"]

    with serving([*command], tmp_path / "gateway.log", cwd=tmp_path) as gateway:
        root = GATEWAY.removesuffix("/v1")
        code = program.code.replace(root, gateway.url.removesuffix("/v1"))
        printed = runs(tools.python, "-c", code)

    assert "Biscuit" in printed


def test_the_guide_names_its_dependencies() -> None:
    """With versions that the workspace uses, and with a feature that the crate has."""
    [block] = fenced(ROOT / "docs" / "agents" / "README.md", "toml")
    named = tomllib.loads(block)["dependencies"]
    own = named.pop("antiphon-agents")
    crate = tomllib.loads((ROOT / "crates" / "antiphon-agents" / "Cargo.toml").read_text())
    assert own["path"].endswith(f"/crates/{crate['package']['name']}")
    assert set(own["features"]) <= set(crate["features"])
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    versions = {package["name"]: package["version"] for package in locked}
    for name, asked in named.items():
        version = asked if isinstance(asked, str) else asked["version"]
        assert versions[name].startswith(f"{version}."), name


def test_the_commands_of_the_readme_print_what_it_shows(tmp_path: Path) -> None:
    [shown] = [code for _, code in FENCED.findall(README.read_text()) if code.startswith("$ ")]
    commands = re.findall(r"^\$ (.*)$", shown, re.MULTILINE)
    expected = "".join(line for line in shown.splitlines(True) if not line.startswith("$ "))

    path = f"{antiphon().parent}{os.pathsep}{os.environ['PATH']}"
    printed = subprocess.run(
        ["bash", "-c", "\n".join(commands)],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    ).stdout

    assert printed == expected


def test_the_programs_of_the_mock_page_run(tools: Tools, provider: Provider, runs: Run) -> None:
    first, check = blocks(MOCK_PAGE)

    assert runs(tools.python, "-c", first.code.replace(MOCK, provider.root)) == "purple\n"
    runs(tools.python, "-c", check.code.replace(MOCK, provider.root))


def test_the_script_of_the_mock_page_is_accepted(tmp_path: Path) -> None:
    [script] = fenced(MOCK_PAGE, "json")
    with start_provider(tmp_path, script=json.loads(script)):
        pass


def test_the_files_of_the_settings_page_are_accepted(tmp_path: Path) -> None:
    upstreams, limits, webhooks = fenced(SETTINGS_PAGE, "toml")

    assert_accepted(f"{upstreams}\n{limits}", tmp_path, ANTHROPIC_API_KEY="any")
    secret = "whsec_" + "c2VjcmV0" * 5
    assert_accepted(webhooks, tmp_path, WEBHOOK_SECRET=secret, ANTIPHON_API_KEY="a-key=acme")


def assert_accepted(settings: str, directory: Path, **env: str) -> None:
    """The gateway would start with this file."""
    (directory / "antiphon.toml").write_text(settings)
    checked = subprocess.run(
        [antiphon(), "serve", "--check"],
        cwd=directory,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stderr


def test_the_settings_page_has_every_flag_and_its_default() -> None:
    command = [antiphon(), "serve", "--help"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    flags = re.findall(r"^ +--([a-z-]+) <.*?(?:\[default: (.*)\])?$", told, re.MULTILINE)
    rows = re.findall(r"^\| (`--.*?) \| (.*?) \|", SETTINGS_PAGE.read_text(), re.MULTILINE)
    defaults = {
        flag: default.replace("`", "")
        for cell, default in rows
        for flag in re.findall(r"--([a-z-]+)", cell)
    }

    assert {flag for flag, _ in flags} == {"config", *defaults}
    for flag, default in flags:
        assert default in ("", defaults.get(flag, default)), flag


def program_with(address: str, document: Path) -> str:
    """The first program that asks this address."""
    programs = [block.code for block in blocks(document) if not uses_package(block)]
    return next(code for code in programs if address in code)


def fenced(document: Path, language: str) -> list[str]:
    return [code for name, code in FENCED.findall(document.read_text()) if name == language]
