"""Where the files for deployments are, and the program that they run."""

import os
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"

# The scripts below `deploy` and `site`, which the tests import, the servers of the client
# suites, and the pages of the site.
sys.path += [str(DEPLOY / "container"), str(DEPLOY / "release"), str(ROOT / "site")]
sys.path += [str(ROOT / "tests" / name) for name in ("clients", "packages")]


def version() -> str:
    """The workspace's version."""
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text())
    return str(manifest["workspace"]["package"]["version"])


def antiphon() -> Path:
    """The binary of the tests."""
    return Path(os.environ["ANTIPHON_BIN"])


def dist() -> Path:
    """dist, which builds the files of a release."""
    return Path(os.environ["ANTIPHON_DIST"])
