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
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from places import DEPLOY_TESTS, HERE, PYTHON, ROOT

from building import build_node_package, build_wheel
from environments import Tools, add_node_package, add_wheel, install_dist, install_tools
from installation import INSTALL_TIMEOUT
from suites import FOREIGN, Tally, reported
from suites import run as run_tests

Result = TypeVar("Result")

# A turn takes milliseconds; a test that waits for what never comes does not wait for long.
TEST_TIMEOUT = 30


def main() -> int:
    options = parse_options()
    tally = tested(options)
    print(f"{tally.passed} passed, {tally.failed} failed", flush=True)
    return 0 if tally.passed and not tally.failed else 1


def tested(options: argparse.Namespace) -> Tally:
    """The suites' tally; what keeps any of them from running is one failure."""
    names = options.only or [*SUITES]
    needed = {kind for name in names for kind in SUITES[name].needs}
    try:
        tools = timed("install", lambda: install_tools(options.build_dir, options.clients_dir))
        packages = {kind: installed(kind, options, tools) for kind in sorted(needed)}
    except FAILURES as error:
        return failed("the packages could not be tested", error)
    missing = [kind for kind, file in packages.items() if file is None]
    tally = Tally(passed=0, failed=len(missing))
    env = environment(options, packages)
    for name in names:
        suite = SUITES[name]
        if not set(missing) & set(suite.needs):
            tally += timed(name, lambda: suite.run(tools, env, options.keyword))
    return tally


def installed(kind: str, options: argparse.Namespace, tools: Tools) -> Path | None:
    """The package's file, built unless it is given, and installed beside the frameworks.

    None where it does not build: what does not need it is tested all the same.
    """
    package = PACKAGES[kind]
    try:
        file = getattr(options, kind) or timed(
            package.name, lambda: package.build(tools, options.antiphon)
        )
        package.add(tools, file)
        return file
    except FAILURES as error:
        failed(f"there is no {package.name}", error)
        return None


def failed(what: str, error: Exception) -> Tally:
    print(f"{what}: {error}", file=sys.stderr, flush=True)
    return Tally(passed=0, failed=1)


FAILURES = (OSError, RuntimeError, ValueError)


@dataclass(frozen=True)
class Package:
    """How users' files are made, the command in them included, and installed."""

    name: str
    build: Callable[[Tools, Path], Path]
    add: Callable[[Tools, Path], None]


# By the option that gives the file.
PACKAGES = {
    "wheel": Package("wheel", build_wheel, add_wheel),
    "node_package": Package("npm package", build_node_package, add_node_package),
}


def test_python(tools: Tools, env: dict[str, str], keyword: str | None) -> Tally:
    """The Python package beside every framework."""
    return run_pytest("python", tools, env, keyword, PYTHON / "tests", TEST_TIMEOUT)


def test_node(tools: Tools, env: dict[str, str], keyword: str | None) -> Tally:
    """The npm package beside every framework."""
    report = tools.build_dir / "node.xml"
    files = sorted((tools.node_dir / "test").rglob("*.test.*js"))
    command: list[str | Path] = [
        tools.node,
        *["--test", f"--test-timeout={TEST_TIMEOUT * 1000}"],
        *["--test-reporter=spec", "--test-reporter-destination=stdout"],
        *["--test-reporter=junit", f"--test-reporter-destination={report}"],
        *(["--test-name-pattern", keyword] if keyword else []),
        *files,
    ]
    return reported(report, lambda: run_tests(command, env, tools.node_dir))


def test_artefacts(tools: Tools, env: dict[str, str], keyword: str | None) -> Tally:
    """What users get: what is in it, where it installs, and what the documents say of it."""
    return run_pytest("artefacts", tools, env, keyword, HERE, INSTALL_TIMEOUT)


def test_deploy(tools: Tools, env: dict[str, str], keyword: str | None) -> Tally:
    """The files for deployments, the files of a release, and the site."""
    try:
        dist = timed("dist", lambda: install_dist(tools))
    except FAILURES as error:
        return failed("there is no dist", error)
    env = {**env, "ANTIPHON_DIST": str(dist)}
    return run_pytest("deploy", tools, env, keyword, DEPLOY_TESTS, INSTALL_TIMEOUT)


@dataclass(frozen=True)
class Suite:
    """Tests that are counted together, and the packages that they need."""

    needs: tuple[str, ...]
    run: Callable[[Tools, dict[str, str], str | None], Tally]


SUITES = {
    "artefacts": Suite(("wheel", "node_package"), test_artefacts),
    "python": Suite(("wheel",), test_python),
    "node": Suite(("node_package",), test_node),
    "deploy": Suite((), test_deploy),
}


def run_pytest(
    name: str, tools: Tools, env: dict[str, str], keyword: str | None, directory: Path, timeout: int
) -> Tally:
    report = tools.build_dir / f"{name}.xml"
    command: list[str | Path] = [
        tools.python,
        *["-m", "pytest", "--quiet", "--tb=short", "-p", "no:cacheprovider"],
        *[f"--timeout={timeout}", f"--junit-xml={report}"],
        *(["-k", keyword] if keyword else []),
        directory,
    ]
    return reported(report, lambda: run_tests(command, env, directory))


def environment(
    options: argparse.Namespace, packages: dict[str, Path | None]
) -> dict[str, str]:
    """This shell's, without settings meant for other servers, and where everything is."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    return {
        **own,
        "ANTIPHON_BIN": str(options.antiphon),
        "ANTIPHON_REPOSITORY": str(ROOT),
        "ANTIPHON_BUILD_DIR": str(options.build_dir),
        "ANTIPHON_CLIENTS_DIR": str(options.clients_dir),
        **{f"ANTIPHON_{kind.upper()}": str(file) for kind, file in packages.items()},
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
