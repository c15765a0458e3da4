"""Where things are in the repository, and the ways to what the suites of real clients have."""

import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PYTHON = ROOT / "bindings" / "python"
NODE = ROOT / "bindings" / "node"
DEPLOY_TESTS = ROOT / "tests" / "deploy"
PAGES = ROOT / "docs" / "frameworks"

# Clients are installed, servers started and tests counted as for the suites of real clients.
sys.path.append(str(ROOT / "tests" / "clients"))
sys.path.append(str(PYTHON / "tests"))


def version() -> str:
    """The one version that everything has: that of the workspace."""
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text())
    return str(manifest["workspace"]["package"]["version"])
