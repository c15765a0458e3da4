#!/usr/bin/env python3
"""Runs the real-client suites against a gateway in front of a model provider.

    run.py --antiphon BIN --fake-upstream BIN --build-dir DIR [--short | --long] [--only NAME]
           [--setup NAME] [--versions newest|oldest]

Installs the pinned clients into the build directory when their pins changed, starts for each setup
the provider and a gateway in front of it, runs the suites, ends the servers, and prints `N passed, N
failed` as its last line. Exits with 1 if anything failed.
"""

import sys

sys.dont_write_bytecode = True

import argparse
import tempfile
from contextlib import ExitStack
from pathlib import Path

from installation import VERSIONS, Installation, install
from servers import (
    Server,
    start_collector,
    start_gateway,
    start_provider,
    start_receiver,
    teach_to_give_reasoning_back,
)
from setups import SETUPS, USUAL, Setup
from suites import SUITES, Tally, run_suites, suites_in
from telemetry import check_telemetry, root, variables


def main() -> int:
    options = parse_options()
    options.build_dir.mkdir(parents=True, exist_ok=True)
    tally = run(options)
    print(f"{tally.passed} passed, {tally.failed} failed", flush=True)
    return 0 if tally.passed and not tally.failed else 1


def run(options: argparse.Namespace) -> Tally:
    """The suites' tally; what keeps them from running is one failure."""
    try:
        tally = Tally(passed=0, failed=0)
        for versions in options.versions or (VERSIONS if options.long else ["newest"]):
            tally += run_versions(versions, options)
        return tally
    except (OSError, RuntimeError) as error:
        print(f"the client suites could not run: {error}", file=sys.stderr, flush=True)
        return Tally(passed=0, failed=1)


def run_versions(name: str, options: argparse.Namespace) -> Tally:
    """Runs the suites in all setups, with one version of each client."""
    print(f"versions: {name}", flush=True)
    build_dir = options.build_dir if name == "newest" else options.build_dir / name
    installation = install(build_dir, VERSIONS[name])
    tally = Tally(passed=0, failed=0)
    for setup in options.setup or USUAL:
        tally += run_in(SETUPS[setup], installation, options)
    return tally


def run_in(setup: Setup, installation: Installation, options: argparse.Namespace) -> Tally:
    """Runs the suites in a setup."""
    every = options.long or bool(options.setup)
    chosen = set(options.only or SUITES) - {*installation.versions.without}
    names = [name for name in suites_in(setup, every) if name in chosen]
    if not names:
        return Tally(passed=0, failed=0)
    print(f"setup: {setup.name}", flush=True)
    logs = installation.build_dir
    with ExitStack() as servers:
        provider = servers.enter_context(
            start_provider(setup, options.antiphon, options.fake_upstream, logs)
        )
        if not setup.starts_gateway:
            return run_at(provider, provider, installation, setup, names, options)
        receiver = servers.enter_context(start_receiver(setup, options.fake_upstream, logs))
        store_dir = Path(servers.enter_context(tempfile.TemporaryDirectory()))
        upstream = root(provider.url) + setup.path
        with start_collector(setup, installation.collector, logs, receiver) as collector:
            telemetry = variables(collector.url)
            gateway = start_gateway(setup, options.antiphon, logs, store_dir, upstream, telemetry)
            with gateway as asked:
                tally = run_at(asked, provider, installation, setup, names, options)
            # The end of each process exports its last spans and metrics.
        return tally + check_telemetry(setup, names, provider.url, receiver.url)


def run_at(
    asked: Server,
    provider: Server,
    installation: Installation,
    setup: Setup,
    names: list[str],
    options: argparse.Namespace,
) -> Tally:
    """Runs the suites against a server."""
    if setup.wants_reasoning_back:
        teach_to_give_reasoning_back(asked)
    places = {"ANTIPHON_BASE_URL": asked.url, "UPSTREAM_URL": provider.url}
    places["ANTIPHON"] = str(options.antiphon)
    return run_suites(installation, setup, names, long=options.long, places=places)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--antiphon", type=resolved, required=True, help="the gateway's binary")
    parser.add_argument(
        "--fake-upstream", type=resolved, required=True, help="the fake upstream's binary"
    )
    parser.add_argument(
        "--build-dir", type=resolved, required=True, help="for clients, logs and reports"
    )
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--short", action="store_true", help="the usual combinations (default)")
    length.add_argument("--long", action="store_true", help="every combination")
    parser.add_argument(
        "--only", action="append", choices=[*SUITES], help="one suite; may be repeated"
    )
    parser.add_argument(
        "--setup",
        action="append",
        choices=[*SETUPS],
        help="all chosen suites in this setup; may be repeated",
    )
    parser.add_argument(
        "--versions",
        action="append",
        choices=[*VERSIONS],
        help="the versions of the clients; by default the newest, and in a long run both",
    )
    return parser.parse_args()


def resolved(path: str) -> Path:
    return Path(path).resolve()


if __name__ == "__main__":
    sys.exit(main())
