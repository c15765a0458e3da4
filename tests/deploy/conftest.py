"""Where the files for deployments are."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"

# The scripts below `deploy`, which the tests import.
sys.path.append(str(DEPLOY / "container"))
