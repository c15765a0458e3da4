#!/usr/bin/env python3
"""Holds a gateway's answers to its own description, with requests that Schemathesis makes of it, and
its metrics of these requests to their documentation.

    run.py --antiphon BIN --build-dir DIR [--seconds N] [--seed N]

Installs the pinned packages into the build directory when a pin changed, and starts a gateway on
an empty store, with the built-in model alone. No answer may be an error of the server's, or one with
a status, content type, header or body that the description does not have. Exits with 1 if any was.
"""

import sys

sys.dont_write_bytecode = True

import argparse
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "clients"))

from installation import digest, locked, run, stamp, stamped
from servers import serving

REQUIREMENTS = HERE / "requirements.txt"

CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "unsupported_method",
    "allow_header_conformance",
    "use_after_free",
]

# Requests are the same in every run, but for the ids that the gateway makes.
SEED = 20260424
EXAMPLES = 25

# The key of the metrics. Schemathesis does not have it.
METRICS_KEY = "key-of-the-operator"


def main() -> int:
    options = parse_options()
    build_dir = options.build_dir.resolve()
    build_dir.mkdir(parents=True, exist_ok=True)
    try:
        return checked(install(build_dir), options, build_dir)
    except (OSError, RuntimeError) as error:
        print(f"the description could not be checked: {error}", file=sys.stderr, flush=True)
        return 1


def install(build_dir: Path) -> Path:
    """The programs of the pinned packages, which are installed if a pin changed."""
    venv = build_dir / "venv"
    with locked(build_dir / "install.lock"):
        pins = digest([REQUIREMENTS], sys.version)
        if not stamped(venv, pins):
            shutil.rmtree(venv, ignore_errors=True)
            run([sys.executable, "-m", "venv", venv])
            run([venv / "bin" / "python", "-m", "pip", "install", "--quiet", "-r", REQUIREMENTS])
            stamp(venv, pins)
    return venv / "bin"


def checked(programs: Path, options: argparse.Namespace, build_dir: Path) -> int:
    """Runs it against a gateway of its own; its exit code."""
    with tempfile.TemporaryDirectory() as folder:
        store = f"sqlite:{Path(folder) / 'antiphon.db'}"
        gateway = [options.antiphon, "serve", "--listen", "127.0.0.1:0", "--store", store]
        gateway += ["--metrics-key", METRICS_KEY]
        env = {name: text for name, text in os.environ.items() if not name.startswith("ANTIPHON_")}
        with serving(gateway, build_dir / "antiphon.log", env=env, cwd=folder) as server:
            root = server.url.removesuffix("/v1")
            command = [
                programs / "schemathesis",
                "run",
                f"{root}/openapi.json",
                f"--checks={','.join(CHECKS)}",
                f"--max-examples={EXAMPLES}",
                f"--max-time={options.seconds}",
                f"--seed={options.seed}",
                "--request-timeout=10",
                "--generation-database=none",
                "--warnings=off",
            ]
            hooks = {**os.environ, "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(HERE)}
            hooks["PYTHONDONTWRITEBYTECODE"] = "1"
            answers = subprocess.run(command, env=hooks, cwd=folder, check=False).returncode
            metrics = [programs / "python", HERE / "metrics.py", f"{root}/metrics", METRICS_KEY]
            return answers or subprocess.run(metrics, check=False).returncode


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--antiphon", type=Path, required=True, help="the gateway's binary")
    parser.add_argument("--build-dir", type=Path, required=True, help="where it is installed")
    parser.add_argument("--seconds", type=int, default=45, help="the bound on the whole run")
    parser.add_argument("--seed", type=int, default=SEED, help="what requests are made from")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
