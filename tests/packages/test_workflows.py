"""The workflows that publish: what they name exists, and they leave no platform out."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from places import NODE, ROOT

WORKFLOWS = ROOT / ".github" / "workflows"

# A path that begins with a directory of the repository's root.
NAMED = re.compile(r"(?<![\w./-])(?:\./)?(?:\.ci|\.github|bindings|crates|deploy|docs|site|tests)/[\w./-]+")


def workflow(name: str) -> dict[str, Any]:
    return dict(yaml.safe_load((WORKFLOWS / name).read_text()))


@pytest.mark.parametrize("path", sorted(WORKFLOWS.glob("*.yml")), ids=lambda path: path.name)
def test_what_a_workflow_names_exists(path: Path) -> None:
    named = NAMED.findall(path.read_text())
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("path", sorted(WORKFLOWS.glob("*.yml")), ids=lambda path: path.name)
def test_every_job_of_a_workflow_can_run(path: Path) -> None:
    jobs = workflow(path.name)["jobs"]
    for job in jobs.values():
        assert set(job.get("needs", [])) <= set(jobs)
        assert "uses" in job or all("uses" in step or "run" in step for step in job["steps"])


@pytest.mark.parametrize(
    ("name", "permissions"),
    [
        ("publish-container.yml", {"packages"}),
        ("publish-crates.yml", {"id-token"}),
        ("publish-node.yml", {"id-token"}),
        ("publish-python.yml", {"id-token"}),
        ("publish-release.yml", {"contents"}),
        ("publish-site.yml", {"id-token", "pages"}),
    ],
)
def test_nothing_is_published_that_was_not_tested(name: str, permissions: set[str]) -> None:
    publish = workflow(name)["jobs"]["publish"]
    assert "test" in publish["needs"]
    assert publish["permissions"] == dict.fromkeys(permissions, "write")
    assert "secrets." not in (WORKFLOWS / name).read_text()


def test_every_platform_has_a_wheel() -> None:
    built = {row["target"] for row in rows("publish-python.yml", "wheel")}
    assert built == TARGETS


def test_every_platform_has_an_addon_that_the_package_asks_for() -> None:
    addons = rows("publish-node.yml", "addon")
    assert {row["target"] for row in addons} == TARGETS
    asked_for = workflow("publish-node.yml")["env"]["PLATFORMS"].split(",")
    assert sorted(row["platform"] for row in addons) == sorted(asked_for)


@pytest.mark.parametrize(
    ("name", "job"), [("publish-python.yml", "wheel"), ("publish-node.yml", "addon")]
)
def test_every_platform_has_the_command(name: str, job: str) -> None:
    """On Linux the one that is linked statically. Its file has the same name in all workflows."""
    built = {row["target"]: row.get("suffix") for row in rows("command.yml", "build")}
    assert "command" in workflow(name)["jobs"][job]["needs"]
    for row in rows(name, job):
        expected = row["target"].replace("linux-gnu", "linux-musl")
        assert row["command"] == expected
        assert row.get("suffix") == built[expected] == (".exe" if "windows" in expected else None)


@pytest.mark.parametrize("name", ["publish-node.yml", "publish-python.yml"])
def test_packages_take_the_command_under_its_file_name(name: str) -> None:
    assert "--command command/antiphon${{ matrix.suffix }}" in (WORKFLOWS / name).read_text()
    assert "optimized/antiphon${{ matrix.suffix }}\n" in (WORKFLOWS / "command.yml").read_text()


@pytest.mark.parametrize("name", ["command.yml", "publish-node.yml"])
def test_a_workflow_takes_the_files_of_the_profile_that_it_builds(name: str) -> None:
    text = (WORKFLOWS / name).read_text()
    built = set(re.findall(r"cargo (?:zig)?build --profile (\w+)", text))
    taken = set(re.findall(r"target/\$\{\{ matrix\.target \}\}/(\w+)/", text))
    assert built == taken == {"optimized"}
    assert "optimized" in tomllib.loads((ROOT / "Cargo.toml").read_text())["profile"]


def test_the_tests_include_windows() -> None:
    assert workflow("test.yml")["jobs"]["windows"]["runs-on"].startswith("windows-")


def test_the_addon_is_the_crate_that_is_built() -> None:
    assert 'name = "antiphon-node"' in (NODE / "Cargo.toml").read_text()


TARGETS = {
    f"{processor}-{system}"
    for processor in ("x86_64", "aarch64")
    for system in ("unknown-linux-gnu", "unknown-linux-musl", "apple-darwin", "pc-windows-msvc")
}


def rows(name: str, job: str) -> list[dict[str, str]]:
    return list(workflow(name)["jobs"][job]["strategy"]["matrix"]["include"])
