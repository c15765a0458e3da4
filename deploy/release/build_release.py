#!/usr/bin/env python3
"""Builds the files of a release with dist: archives, checksums, installers and a formula.

    build_release.py --tag vVERSION --repository URL --commands DIR --out DIR [--dist PROGRAM]

DIR of the commands has a directory `command-TARGET` with the binary of each target that
`dist-workspace.toml` names. URL is that of the repository at github.com. PROGRAM is dist in the
version that `dist-workspace.toml` names, by default the `dist` in the PATH.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from additions import complete

ROOT = Path(__file__).parents[2]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tag", required=True, help="of the release, as v0.1.0")
    parser.add_argument("--repository", required=True, metavar="URL", help="at github.com")
    parser.add_argument("--commands", type=Path, required=True, metavar="DIR")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--dist", default="dist", metavar="PROGRAM")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        project = Path(directory)
        write_project(project, options.repository, options.commands.resolve())
        command = [options.dist, "build", "--artifacts=all", "--force-tag", "--tag", options.tag]
        ended = subprocess.run(command, cwd=project)
        if ended.returncode != 0:
            return ended.returncode
        options.out.mkdir(parents=True, exist_ok=True)
        for file in (project / "target" / "distrib").iterdir():
            if file.is_file():
                shutil.copy(file, options.out)
    complete(options.out)
    return 0


def write_project(project: Path, repository: str, commands: Path) -> None:
    """The project that dist builds: its settings, the files of an archive, and the binaries."""
    address = json.dumps(repository.rstrip("/"))
    package = f"[package]\nrepository = {address}\nhomepage = {address}\n"
    settings = (ROOT / "dist-workspace.toml").read_text().replace("[package]\n", package)
    (project / "dist-workspace.toml").write_text(settings)
    for name in ("LICENSE", "README.md"):
        shutil.copy(ROOT / name, project)
    (project / "commands").symlink_to(commands)


if __name__ == "__main__":
    sys.exit(main())
