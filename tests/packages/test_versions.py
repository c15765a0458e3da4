"""One version, in one place."""

import re
import subprocess

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
