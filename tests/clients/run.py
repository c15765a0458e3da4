#!/usr/bin/env python3
"""Runs the real-client suites against a gateway in front of a fake upstream.

    run.py --antiphon BIN --fake-upstream BIN --build-dir DIR [--short | --long] [--only NAME]
           [--upstream-api NAME]

Installs the pinned clients into the build directory when their pins changed, starts the fake
upstream, and for each of its APIs a gateway that speaks it, runs the suites, ends the servers, and
prints `N passed, N failed` as its last line. Exits with 1 if anything failed.
"""

import sys

sys.dont_write_bytecode = True

import argparse
import tempfile
from contextlib import ExitStack
from pathlib import Path

from installation import Installation, install
from servers import start_fake_upstream, start_gateway, teach_to_give_reasoning_back
from suites import SUITES, Tally, run_suites, suites_over
from upstream_apis import UPSTREAM_APIS, UpstreamApi


def main() -> int:
    options = parse_options()
    options.build_dir.mkdir(parents=True, exist_ok=True)
    tally = run(options)
    print(f"{tally.passed} passed, {tally.failed} failed", flush=True)
    return 0 if tally.passed and not tally.failed else 1


def run(options: argparse.Namespace) -> Tally:
    """The suites' tally; what keeps them from running is one failure."""
    try:
        installation = install(options.build_dir)
        tally = Tally(passed=0, failed=0)
        for api in options.upstream_api or [*UPSTREAM_APIS]:
            tally += run_over(UPSTREAM_APIS[api], installation, options)
        return tally
    except (OSError, RuntimeError) as error:
        print(f"the client suites could not run: {error}", file=sys.stderr, flush=True)
        return Tally(passed=0, failed=1)


def run_over(api: UpstreamApi, installation: Installation, options: argparse.Namespace) -> Tally:
    """Runs the suites against a gateway that asks its upstream in this API."""
    every = options.long or bool(options.upstream_api)
    names = [name for name in suites_over(api, every) if name in (options.only or SUITES)]
    if not names:
        return Tally(passed=0, failed=0)
    print(f"upstream API: {api.name}", flush=True)
    logs = options.build_dir
    with ExitStack() as servers:
        store_dir = Path(servers.enter_context(tempfile.TemporaryDirectory()))
        upstream = servers.enter_context(start_fake_upstream(options.fake_upstream, logs))
        gateway = servers.enter_context(
            start_gateway(options.antiphon, logs, store_dir, upstream.url, api.name)
        )
        if api.wants_reasoning_back:
            teach_to_give_reasoning_back(gateway)
        urls = {"ANTIPHON_BASE_URL": gateway.url, "FAKE_UPSTREAM_URL": upstream.url}
        return run_suites(installation, names, long=options.long, env={**urls, **api.env})


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
        "--upstream-api",
        action="append",
        choices=[*UPSTREAM_APIS],
        help="all chosen suites over this API of the upstream; may be repeated",
    )
    return parser.parse_args()


def resolved(path: str) -> Path:
    return Path(path).resolve()


if __name__ == "__main__":
    sys.exit(main())
