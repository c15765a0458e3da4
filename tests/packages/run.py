#!/usr/bin/env python3
"""Builds the packages for Python and Node as users get them, and tests them.

    run.py --antiphon BIN --build-dir DIR [--clients-dir DIR] [--wheel FILE] [--node-package FILE]
           [--only NAME] [--keyword EXPRESSION]

Installs what is pinned if the pins changed, builds the wheel and the npm package unless they are
given, and prints `N passed, N failed` as its last line. Exits with 1 if anything failed.
"""

import sys

sys.dont_write_bytecode = True

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from places import HERE, PYTHON, ROOT

from building import Packages, build_node_package, build_wheel
from environments import Tools, add_node_package, add_wheel, install_tools
from installation import INSTALL_TIMEOUT
from suites import FOREIGN, TEST_TIMEOUT, Tally, reported
from suites import run as run_tests

Result = TypeVar("Result")


def main() -> int:
    options = parse_options()
    tally = tested(options)
    print(f"{tally.passed} passed, {tally.failed} failed", flush=True)
    return 0 if tally.passed and not tally.failed else 1


def tested(options: argparse.Namespace) -> Tally:
    """The suites' tally; what keeps them from running is one failure."""
    try:
        tools = timed("install", lambda: install_tools(options.build_dir, options.clients_dir))
        packages = Packages(
            options.wheel or timed("wheel", lambda: build_wheel(tools)),
            options.node_package or timed("npm package", lambda: build_node_package(tools)),
        )
        add_wheel(tools, packages.wheel)
        add_node_package(tools, packages.node_package)
        env = environment(options, tools, packages)
        tally = Tally(passed=0, failed=0)
        for name in options.only or SUITES:
            tally += timed(name, lambda name=name: SUITES[name](tools, env, options.keyword))
        return tally
    except (OSError, RuntimeError, ValueError) as error:
        print(f"the packages could not be tested: {error}", file=sys.stderr, flush=True)
        return Tally(passed=0, failed=1)


def test_python(tools: Tools, env: dict[str, str], keyword: str | None) -> Tally:
    """The Python package beside every framework."""
    return run_pytest("python", tools, env, keyword, PYTHON / "tests", TEST_TIMEOUT)


def test_node(tools: Tools, env: dict[str, str], keyword: str | None) -> Tally:
    """The npm package beside every framework."""
    report = tools.build_dir / "node.xml"
    files = sorted((tools.node_dir / "test").rglob("*.test.*js"))
    command = [
        *[tools.node, "--test", f"--test-timeout={TEST_TIMEOUT * 1000}"],
        *["--test-reporter=spec", "--test-reporter-destination=stdout"],
        *["--test-reporter=junit", f"--test-reporter-destination={report}"],
        *(["--test-name-pattern", keyword] if keyword else []),
        *files,
    ]
    return reported(report, lambda: run_tests(command, env, tools.node_dir))


def test_artefacts(tools: Tools, env: dict[str, str], keyword: str | None) -> Tally:
    """What users get: what is in it, where it installs, and what the documents say of it."""
    return run_pytest("artefacts", tools, env, keyword, HERE, INSTALL_TIMEOUT)


SUITES: dict[str, Callable[[Tools, dict[str, str], str | None], Tally]] = {
    "artefacts": test_artefacts,
    "python": test_python,
    "node": test_node,
}


def run_pytest(
    name: str, tools: Tools, env: dict[str, str], keyword: str | None, directory: Path, timeout: int
) -> Tally:
    report = tools.build_dir / f"{name}.xml"
    command = [
        *[tools.python, "-m", "pytest", "--quiet", "--tb=short", "-p", "no:cacheprovider"],
        *[f"--timeout={timeout}", f"--junit-xml={report}"],
        *(["-k", keyword] if keyword else []),
        directory,
    ]
    return reported(report, lambda: run_tests(command, env, directory))


def environment(options: argparse.Namespace, tools: Tools, packages: Packages) -> dict[str, str]:
    """This shell's, without settings meant for other servers, and where everything is."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    return {
        **own,
        "ANTIPHON_BIN": str(options.antiphon),
        "ANTIPHON_REPOSITORY": str(ROOT),
        "ANTIPHON_BUILD_DIR": str(options.build_dir),
        "ANTIPHON_CLIENTS_DIR": str(options.clients_dir),
        "ANTIPHON_WHEEL": str(packages.wheel),
        "ANTIPHON_NODE_PACKAGE": str(packages.node_package),
        "NO_PROXY": "127.0.0.1",
        "no_proxy": "127.0.0.1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def timed(what: str, work: Callable[[], Result]) -> Result:
    """What the work comes to; how long it took is printed."""
    started = time.monotonic()
    result = work()
    print(f"{what}: {time.monotonic() - started:.1f} s", flush=True)
    return result


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--antiphon", type=resolved, required=True, help="the program")
    parser.add_argument(
        "--build-dir", type=resolved, required=True, help="for packages, frameworks and reports"
    )
    parser.add_argument(
        "--clients-dir", type=resolved, help="where the client suites install; by default beside"
    )
    parser.add_argument("--wheel", type=resolved, help="test this wheel instead of building one")
    parser.add_argument("--node-package", type=resolved, help="test this npm package instead")
    parser.add_argument(
        "--only", action="append", choices=[*SUITES], help="one suite; may be repeated"
    )
    parser.add_argument("--keyword", help="only tests whose names match")
    options = parser.parse_args()
    options.clients_dir = options.clients_dir or options.build_dir.parent / "clients"
    return options


def resolved(path: str) -> Path:
    return Path(path).resolve()


if __name__ == "__main__":
    sys.exit(main())
