#!/usr/bin/env python3
"""Has pages in a real browser try what they can at a gateway on loopback.

    run.py --antiphon BIN --build-dir DIR [--pictures DIR]

Installs Chromium where it is missing. A foreign page, and one whose name is bound to the gateway's
address, must reach nothing: no model, no conversation, no WebSocket. A page that is allowed must get
all of it. Then the pages of the inspector are tried (`inspector.py`). With `--pictures`, only their
pictures for the documentation are written. Exits with 1 if it is otherwise.
"""

import sys

sys.dont_write_bytecode = True

import argparse
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from queue import Empty
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode, urlsplit
from urllib.request import Request, urlopen

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "clients"))

from chromium import browsing, install
from installation import NEWEST, with_python
from network import Models, Relay, Site, serving_http
from servers import serving

REPORT_TIMEOUT = 120
REQUEST_TIMEOUT = 10
INSPECTOR_TIMEOUT = 600

# A page can see of an answer nothing, or that there was one.
HIDDEN = {"blocked", "opaque"}


@dataclass(frozen=True)
class World:
    """A gateway, the server of models behind it, and a site with a page."""

    browser: Path
    log: Path
    gateway: tuple[str, int]
    models: Models
    site: Site

    @property
    def site_port(self) -> int:
        return self.site.server_address[1]


def main() -> int:
    options = parse_options()
    build_dir = options.build_dir.resolve()
    build_dir.mkdir(parents=True, exist_ok=True)
    try:
        browser = install(build_dir)
        if options.pictures:
            return run_inspector(browser, options, build_dir)
        for test in (foreign_page, rebound_page, allowed_page, page_beside_an_allowed_one):
            test(browser, options.antiphon, build_dir)
            print(f"{test.__name__}: ok", flush=True)
        return run_inspector(browser, options, build_dir)
    except (AssertionError, OSError, RuntimeError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        return 1


def run_inspector(browser: Path, options: argparse.Namespace, build_dir: Path) -> int:
    """The tests of the inspector's pages, in an environment of their own."""
    pins = replace(NEWEST, requirements=HERE / "requirements.txt")
    python = with_python(build_dir, pins).python
    command = [python, HERE / "inspector.py", "--antiphon", options.antiphon.resolve()]
    command += ["--browser", browser, "--build-dir", build_dir]
    if options.pictures:
        command += ["--pictures", options.pictures.resolve()]
    return subprocess.run(command, timeout=INSPECTOR_TIMEOUT, check=False).returncode


def foreign_page(browser: Path, antiphon: Path, build_dir: Path) -> None:
    with gateway(browser, antiphon, build_dir) as world:
        reaches_nothing(world)


def page_beside_an_allowed_one(browser: Path, antiphon: Path, build_dir: Path) -> None:
    with gateway(browser, antiphon, build_dir, "--allow-origin", "http://app.test") as world:
        reaches_nothing(world)


def reaches_nothing(world: World) -> None:
    conversation = new_conversation(world)
    relay = Relay(world.gateway)
    report = visit(world, "evil.test", "foreign", conversation, f"http://127.0.0.1:{relay.port}")
    assert report.pop("socket") == "refused", report
    assert report.pop("form") == "sent", report
    assert set(report.values()) <= HIDDEN, report
    for line in ("POST /v1/responses", "POST /v1/chat/completions", "GET /v1/models"):
        assert line in relay.lines, f"{line} is not in {relay.lines}"
    is_unchanged(world, conversation)


def rebound_page(browser: Path, antiphon: Path, build_dir: Path) -> None:
    with gateway(browser, antiphon, build_dir) as world:
        conversation = new_conversation(world)
        relay = Relay(("127.0.0.1", world.site_port), world.gateway)
        name = f"rebind.test:{world.gateway[1]}"
        rule = f"MAP {name} 127.0.0.1:{relay.port}"
        report = visit(world, name, "rebound", conversation, f"http://{name}", rule)
        assert report.pop("socket") == "refused", report
        assert set(report.values()) == {403}, report
        assert f"DELETE /v1/conversations/{conversation}" in relay.lines, relay.lines
        is_unchanged(world, conversation)


def allowed_page(browser: Path, antiphon: Path, build_dir: Path) -> None:
    with gateway(browser, antiphon, build_dir, "--allow-origin", "http://app.test") as world:
        conversation = new_conversation(world)
        base = f"http://127.0.0.1:{world.gateway[1]}"
        report = visit(world, "app.test", "allowed", conversation, base)
        assert report == {
            "tokens": "estimated",
            "streamed": True,
            "missing": 404,
            "deleted": 200,
            "socket": "response.completed",
        }, report


@contextmanager
def gateway(browser: Path, antiphon: Path, build_dir: Path, *settings: str) -> Iterator[World]:
    """A gateway with the operator's key and no keys of its own."""
    with (
        tempfile.TemporaryDirectory() as folder,
        serving_http(Site()) as site,
        serving_http(Models()) as models,
    ):
        upstream = f"http://127.0.0.1:{models.server_address[1]}/v1"
        command = [antiphon, "serve", "--listen", "127.0.0.1:0", "--upstream", upstream]
        command += ["--upstream-key", "sk-of-the-operator", *settings]
        env = {name: text for name, text in os.environ.items() if not name.startswith("ANTIPHON_")}
        with serving(command, build_dir / "antiphon.log", env=env, cwd=folder) as server:
            url = urlsplit(server.url)
            address = (url.hostname, url.port)
            yield World(browser, build_dir / "chromium.log", address, models, site)


def visit(
    world: World, name: str, scenario: str, conversation: str, base: str, *rules: str
) -> dict[str, Any]:
    """What the page reports that this name serves."""
    site = f"127.0.0.1:{world.site_port}"
    rules = (*rules, *(f"MAP {known}:80 {site}" for known in ("evil.test", "app.test", "report.test")))
    query = {
        "gateway": base,
        "scenario": scenario,
        "conversation": conversation,
        "report": "http://report.test/",
    }
    url = f"http://{name}/?{urlencode(query)}"
    with browsing(world.browser, url, list(rules), world.log):
        try:
            return world.site.reports.get(timeout=REPORT_TIMEOUT)
        except Empty:
            raise RuntimeError(f"the page did not report; see {world.log}") from None


def is_unchanged(world: World, conversation: str) -> None:
    """No model was asked, by any way, and the conversation is still there."""
    assert world.models.requests == [], world.models.requests
    assert ask(world, "GET", f"/v1/conversations/{conversation}")[0] == 200


def new_conversation(world: World) -> str:
    status, conversation = ask(world, "POST", "/v1/conversations", {})
    assert status == 200, conversation
    return conversation["id"]


def ask(world: World, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    """A request as a program makes it."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"content-type": "application/json"}
    request = Request(f"http://127.0.0.1:{world.gateway[1]}{path}", data, headers, method=method)
    try:
        with urlopen(request, timeout=REQUEST_TIMEOUT) as answer:
            return answer.status, json.load(answer)
    except HTTPError as error:
        return error.code, error.read()


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--antiphon", type=Path, required=True, help="the gateway's binary")
    parser.add_argument("--build-dir", type=Path, required=True, help="where logs are written")
    parser.add_argument("--pictures", type=Path, help="write the pictures to this folder")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
