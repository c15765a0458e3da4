"""A gateway under test, and its pages in Chromium."""

import argparse
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from playwright.sync_api import Browser, Page
from servers import serving

REQUEST_TIMEOUT = 60
SIZES = {"wide": {"width": 1280, "height": 900}, "narrow": {"width": 360, "height": 740}}


@dataclass(frozen=True)
class Gateway:
    """A gateway with the built-in model."""

    root: str
    key: str = ""

    def page(self, fragment: str = "") -> str:
        return f"{self.root}/inspect/{fragment}"

    def ask(self, method: str, path: str, body: Any = None, key: str | None = None) -> Any:
        """A request as a program makes it."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json", "authorization": f"Bearer {key or self.key}"}
        request = Request(f"{self.root}{path}", data, headers, method=method)
        with urlopen(request, timeout=REQUEST_TIMEOUT) as answer:
            return json.load(answer)

    def respond(self, text: Any, **fields: Any) -> dict[str, Any]:
        return self.ask("POST", "/v1/responses", {"model": "sim", "input": text, **fields})

    def conversation(self, **metadata: str) -> str:
        return self.ask("POST", "/v1/conversations", {"metadata": metadata})["id"]


@contextmanager
def gateway(options: argparse.Namespace, *settings: str, key: str = "") -> Iterator[Gateway]:
    env = {name: text for name, text in os.environ.items() if not name.startswith("ANTIPHON_")}
    with tempfile.TemporaryDirectory() as folder:
        command = [options.antiphon, "serve", "--listen", "127.0.0.1:0", *settings]
        log = options.build_dir / "inspector.log"
        with serving(command, log, env=env, cwd=folder) as server:
            yield Gateway(server.url.removesuffix("/v1"), key)


@contextmanager
def opened(browser: Browser, url: str, **options: Any) -> Iterator[Page]:
    """A page without errors of its own."""
    context = browser.new_context(**{"viewport": SIZES["wide"], **options})
    page = context.new_page()
    page.set_default_timeout(15_000)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("dialog", lambda dialog: errors.append(f"dialog: {dialog.message}"))
    page.goto(url)
    try:
        yield page
        assert errors == [], errors
    finally:
        context.close()


def refused(world: Gateway, body: Any) -> dict[str, Any]:
    """The error of a turn that the gateway refuses."""
    try:
        answer = world.ask("POST", "/v1/responses", body)
    except HTTPError as error:
        return json.load(error)["error"]
    raise AssertionError(answer)
