"""One version, in one place."""

import json
import re
import subprocess
from pathlib import Path

from places import ROOT, version


def test_nothing_below_bindings_names_the_version() -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "bindings"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    files = [name for name in tracked.stdout.split("\0") if name and "lock" not in name]
    assert [name for name in files if NAMED.search(text_of(name))] == []


def text_of(name: str) -> str:
    return (ROOT / name).read_text(errors="replace")


# The version, and not a part of another one.
NAMED = re.compile(rf"(?<![\d.]){re.escape(version())}(?![\d.])")


CLIENTS = ROOT / "tests" / "clients"

# The files with the pins of the client suites, for Python and for Node.
OLDEST = (CLIENTS / "oldest" / "requirements.txt", CLIENTS / "oldest" / "package.json")
NEWEST = (CLIENTS / "python" / "requirements.txt", CLIENTS / "node" / "package.json")

ROW = re.compile(r"^\| (`.*) \| (.*) \| (.*) \|$", re.MULTILINE)


def test_the_page_of_versions_names_the_pins() -> None:
    rows = ROW.findall((ROOT / "docs" / "versions.md").read_text())
    assert rows
    for clients, oldest, newest in rows:
        assert versions(oldest) == pinned(clients, *OLDEST), clients
        assert versions(newest) == pinned(clients, *NEWEST), clients


def versions(cell: str) -> set[str]:
    return set(cell.split(", "))


def pinned(clients: str, python: Path, node: Path) -> set[str]:
    """The pinned versions of the clients in a cell, such as "`a-core`, `-openai` for Python"."""
    names = [name for name in re.findall(r"`([^`]+)`", clients) if name.islower()]
    family = names[0].rpartition("-")[0]
    if re.search(r"Node|JavaScript|`ai`|`@", clients):
        package = json.loads(node.read_text())
        pins = package["dependencies"] | package.get("optionalDependencies", {})
    else:
        lines = python.read_text().splitlines()
        pins = dict(line.split("==") for line in lines if "==" in line)
    return {pins.get(family + name if name[0] == "-" else name, "none") for name in names}
