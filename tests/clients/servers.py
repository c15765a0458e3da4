"""The servers under test: started, awaited by their readiness line, ended."""

import json
import os
import queue
import re
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.request import Request, urlopen

from setups import Setup

READY_TIMEOUT = 30
STOP_TIMEOUT = 10

READY = re.compile(r"listening on (http://\S+/v1)")


@dataclass(frozen=True)
class Server:
    """A server that answers at `url`."""

    url: str


def start_provider(
    setup: Setup, antiphon: Path, fake_upstream: Path, logs: Path
) -> AbstractContextManager[Server]:
    """A strict model provider that remembers what it was asked, with state of its own or without."""
    command = [fake_upstream]
    if setup.on_abort:
        command = [antiphon, "mock", "--seed", "tests", "--on-abort", setup.on_abort]
        command += ["--profile", setup.profile]
    return serving([*command, "--listen", "127.0.0.1:0"], logs / f"provider-{setup.name}.log")


def start_receiver(
    setup: Setup, fake_upstream: Path, logs: Path
) -> AbstractContextManager[Server]:
    """A receiver of the gateway's traces and metrics."""
    command = [fake_upstream, "--listen", "127.0.0.1:0"]
    return serving(command, logs / f"receiver-{setup.name}.log")


@contextmanager
def start_collector(setup: Setup, rotel: Path, logs: Path, receiver: Server) -> Iterator[Server]:
    """A collector that decodes what the gateway exports, and passes it on to the receiver."""
    http, grpc = free_ports(2)
    command = [rotel, "start", "--exporter", "otlp", "--otlp-exporter-protocol", "http"]
    command += ["--otlp-exporter-endpoint", f"{receiver.url.removesuffix('/v1')}/otlp"]
    command += ["--otlp-http-endpoint", f"127.0.0.1:{http}"]
    command += ["--otlp-grpc-endpoint", f"127.0.0.1:{grpc}", "--batch-timeout", "100ms"]
    path = logs / f"collector-{setup.name}.log"
    with path.open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        try:
            await_port(http, process, path)
            yield Server(f"http://127.0.0.1:{http}")
        finally:
            end(process)


def free_ports(count: int) -> list[int]:
    """Ports that were free a moment ago: the collector does not say which port it chose."""
    with ExitStack() as sockets:
        bound = [sockets.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [server.getsockname()[1] for server in bound]


def await_port(port: int, process: subprocess.Popen, log: Path) -> None:
    """Returns once a server accepts connections at this port."""
    deadline = time.monotonic() + READY_TIMEOUT
    while process.poll() is None and time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=READY_TIMEOUT).close()
            return
        except ConnectionRefusedError:
            time.sleep(0.05)
    raise RuntimeError(f"the collector does not listen: see {log}")


def start_gateway(
    setup: Setup,
    antiphon: Path,
    logs: Path,
    store_dir: Path,
    upstream_url: str,
    telemetry: dict[str, str],
) -> AbstractContextManager[Server]:
    """The gateway in front of the upstream, with an empty store and no settings from elsewhere.

    `telemetry`: the variables that switch the export of its traces and metrics on.
    """
    store = f"sqlite:{store_dir / 'antiphon.db'}"
    command = [antiphon, "serve", "--listen", "127.0.0.1:0", "--store", store]
    upstream = ["--upstream", upstream_url, "--upstream-api", setup.api]
    if setup.on_abort:
        upstream += ["--state", "upstream"]
    env = {k: v for k, v in os.environ.items() if not k.startswith(("ANTIPHON_", "OTEL_"))}
    env |= telemetry
    log = logs / f"antiphon-{setup.name}.log"
    return serving([*command, *upstream], log, env=env, cwd=store_dir)


def teach_to_give_reasoning_back(gateway: Server) -> None:
    """Has the gateway meet the refusal of a call without reasoning, which it then knows to avoid.

    The suites want no refusals, and there are clients that lose reasoning.
    """
    call = {"type": "function_call", "call_id": "call_1", "name": "echo", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "call_1", "output": "hello"}
    said = {"role": "user", "content": "Hello"}
    tools = [{"type": "function", "name": "echo", "parameters": {"type": "object"}}]
    body = {"model": "fake-model", "input": [said, call, output], "tools": tools, "store": False}
    headers = {"content-type": "application/json"}
    request = Request(f"{gateway.url}/responses", json.dumps(body).encode(), headers)
    with urlopen(request, timeout=READY_TIMEOUT):
        pass


@contextmanager
def serving(command: list[str | Path], log_path: Path, **options: Any) -> Iterator[Server]:
    """The server that `command` starts, from its readiness line until the block ends.

    Its output goes to the log.
    """
    with log_path.open("w") as log:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            **options,
        )
        ready: queue.Queue[str | None] = queue.Queue()
        reader = threading.Thread(target=copy_output, args=(process.stdout, log, ready))
        reader.start()
        try:
            yield Server(awaited_url(ready, command, log_path))
        finally:
            end(process)
            reader.join()


def copy_output(output: IO[str], log: IO[str], ready: queue.Queue[str | None]) -> None:
    """Copies every line to the log; puts a readiness line's url, None where the output ends."""
    for line in output:
        log.write(line)
        log.flush()
        if found := READY.search(line):
            ready.put(found[1])
    ready.put(None)


def awaited_url(ready: queue.Queue[str | None], command: list[str | Path], log: Path) -> str:
    try:
        url = ready.get(timeout=READY_TIMEOUT)
    except queue.Empty:
        raise RuntimeError(f"{command[0]} was not ready in {READY_TIMEOUT} s: see {log}") from None
    if url is None:
        raise RuntimeError(f"{command[0]} ended before it was ready: see {log}")
    return url


def end(process: subprocess.Popen) -> None:
    """Asks the process to end, and makes it end if it does not."""
    process.terminate()
    try:
        process.wait(STOP_TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
