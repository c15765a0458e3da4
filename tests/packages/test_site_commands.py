"""The commands on the pages of the site run as they stand.

Only addresses, ids and names in them are replaced: by those of the test's own servers.
"""

import json
import os
import re
import shlex
import subprocess
import tomllib
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

import places  # noqa: F401  (the ways to the modules below)

from environments import Tools
from provider import Provider, antiphon
from site_pages import Sample, commands_with, only_block

from servers import free_ports, serving  # isort: skip

TIMEOUT = 30

ROOT_ADDRESS = "http://127.0.0.1:8484"
ADDRESS = f"{ROOT_ADDRESS}/v1"

# The events of a provider's stream, which a page leaves out.
CHAT_EVENTS: list[dict[str, Any]] = [
    {"delta": {"role": "assistant", "content": "Hello"}, "finish_reason": None},
    {"delta": {}, "finish_reason": "stop"},
]


def chat_stream() -> str:
    """A stream of Chat Completions."""
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "any"}
    events = [json.dumps({**head, "choices": [{"index": 0, **event}]}) for event in CHAT_EVENTS]
    return "".join(f"data: {event}\n\n" for event in [*events, "[DONE]"])


def words_of(sample: Sample, server: str) -> list[str | Path]:
    """The words of a command of `antiphon`, with this server in place of the page's."""
    words = shlex.split(sample.text)
    for option in {"--upstream", "--base-url"} & set(words):
        words[words.index(option) + 1] = server
    return [antiphon(), *words[words.index("antiphon") + 1 :]]


def variables_of(sample: Sample) -> dict[str, str]:
    """The variables before the command."""
    before = shlex.split(sample.text.partition("antiphon ")[0])
    return dict(variable.split("=", 1) for variable in before)


def environment(**more: str) -> dict[str, str]:
    """Without settings, and with the binary in the PATH."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("ANTIPHON_")}
    return {**own, "PATH": f"{antiphon().parent}{os.pathsep}{own['PATH']}", **more}


def run(command: list[str | Path], directory: Path, **env: str) -> str:
    ended = subprocess.run(
        command, cwd=directory, env=environment(**env), capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def run_in_shell(command: str, directory: Path, **env: str) -> str:
    return run(["bash", "-euo", "pipefail", "-c", command], directory, **env)


SERVERS = [
    sample
    for start in ("antiphon serve", "antiphon mock", "ANTIPHON_")
    for sample in commands_with(start)
]


@pytest.mark.parametrize("sample", SERVERS, ids=lambda sample: sample.text)
def test_a_server_starts(sample: Sample, provider: Provider, tmp_path: Path) -> None:
    command = [*words_of(sample, provider.url), "--listen", "127.0.0.1:0"]
    log = tmp_path / "server.log"
    env = environment(**variables_of(sample))
    with serving(command, log, cwd=tmp_path, env=env) as server:
        assert server.url.endswith("/v1")


@pytest.mark.parametrize("sample", commands_with("antiphon run"), ids=lambda sample: sample.text)
def test_a_coding_agent_starts(sample: Sample, provider: Provider, tmp_path: Path) -> None:
    """In its place is a program that prints its arguments and its environment."""
    path = stand_in(sample.text.split()[2], tmp_path, 'printf "%s\\n" "$@"; env')
    env = {"PATH": path, "HOME": str(tmp_path), "BROWSER": "true"}
    printed = run(words_of(sample, provider.url), tmp_path, **env)
    assert re.search(r"http://127\.0\.0\.1:\d+", printed)
    own_arguments = shlex.split(sample.text.partition(" -- ")[2])
    assert all(argument in printed.splitlines() for argument in own_arguments)


def test_codex_gets_the_settings_of_its_page(tmp_path: Path) -> None:
    """They are those that `antiphon run codex` gives it, with other values."""
    path = stand_in("codex", tmp_path, 'printf "%s\\n" "$@"')
    options = run([antiphon(), "run", "codex"], tmp_path, PATH=path).splitlines()
    given = tomllib.loads("\n".join(option for option in options if option != "-c"))
    page = tomllib.loads(only_block("docs/codex.md", "toml"))
    assert page.keys() == given.keys()
    assert page["model_provider"] == given["model_provider"] == "antiphon"
    [(name, provider)] = page["model_providers"].items()
    assert provider.keys() == given["model_providers"][name].keys()
    assert provider["wire_api"] == given["model_providers"][name]["wire_api"]
    assert provider["base_url"] == ADDRESS


def stand_in(name: str, directory: Path, script: str) -> str:
    """A PATH that begins with a program of this name."""
    program = directory / "programs" / name
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return f"{program.parent}{os.pathsep}{os.environ['PATH']}"


@pytest.fixture
def response(tmp_path: Path) -> str:
    """The id of the one response in the store `antiphon.db` of the test's directory."""
    command: list[str | Path] = [antiphon(), "serve", "--listen", "127.0.0.1:0"]
    with serving(command, tmp_path / "log", cwd=tmp_path, env=environment()) as gateway:
        body = json.dumps({"model": "sim", "input": "My color is purple"}).encode()
        headers = {"content-type": "application/json", "authorization": "Bearer any"}
        with urlopen(Request(f"{gateway.url}/responses", body, headers), timeout=TIMEOUT) as answer:
            return str(json.load(answer)["id"])


def test_the_inspector_shows_a_store(response: str, tmp_path: Path) -> None:
    of_all, of_one = commands_with("antiphon inspect")
    assert response in run_in_shell(of_all.text, tmp_path)
    assert "My color is purple" in run_in_shell(of_one.text.replace("resp_…", response), tmp_path)


def test_a_tenant_moves(response: str, tmp_path: Path) -> None:
    names = ("tenants", "export", "import")
    tenants, export, into = (commands_with(f"antiphon {name}")[0] for name in names)
    listed = run_in_shell(tenants.text, tmp_path)
    name = json.loads(listed)["tenant"]
    for command in (export, into):
        run_in_shell(command.text.replace("NAME", name), tmp_path)
    assert tenants_of("new.db", tmp_path) == tenants_of("antiphon.db", tmp_path)
    assert response in (tmp_path / f"{name}.jsonl").read_text()


def tenants_of(store: str, directory: Path) -> dict[str, Any]:
    return dict(json.loads(run([antiphon(), "tenants", "--store", f"sqlite:{store}"], directory)))


def test_shells_are_completed(tmp_path: Path) -> None:
    completions, manual = (commands_with(f"antiphon {name}")[0] for name in ("completions", "man"))
    (tmp_path / ".local/share/bash-completion/completions").mkdir(parents=True)
    for command in (completions, manual):
        run_in_shell(command.text, tmp_path, HOME=str(tmp_path))
    written = {file.name for file in (tmp_path / ".local").rglob("*") if file.is_file()}
    assert {"antiphon", "antiphon-serve.1"} <= written


def test_a_stream_is_converted(tmp_path: Path) -> None:
    """In place of `curl` is a program that prints a stream of Chat Completions."""
    [command] = commands_with("curl -sN https://api.example")
    (tmp_path / "stream").write_text(chat_stream())
    path = stand_in("curl", tmp_path, f"cat {tmp_path / 'stream'}")
    path = f"{path}{os.pathsep}{antiphon().parent}"
    printed = run_in_shell(command.text.replace(" …", ""), tmp_path, PATH=path)
    assert "event: response.completed" in printed.splitlines()
    assert '"Hello"' in printed


def test_curl_receives_a_report(tmp_path: Path) -> None:
    ask, report = commands_with(f"curl {ADDRESS}/responses")
    command: list[str | Path] = [antiphon(), "serve", "--listen", "127.0.0.1:0"]
    with serving(command, tmp_path / "log", cwd=tmp_path, env=environment()) as gateway:
        answer = json.loads(run_in_shell(ask.text.replace(ADDRESS, gateway.url), tmp_path))
        text = report.text.replace(ADDRESS, gateway.url).replace("RESPONSE_ID", answer["id"])
        repairs = json.loads(run_in_shell(text, tmp_path))["repairs"]
    assert (answer["status"], repairs) == ("completed", [])


def test_curl_asks_a_gateway_how_it_is(tmp_path: Path) -> None:
    """With a port for the metrics."""
    command: list[str | Path] = [antiphon(), "serve", "--listen", "127.0.0.1:0"]
    [port] = free_ports(1)
    command += ["--metrics-listen", f"127.0.0.1:{port}"]
    with serving(command, tmp_path / "log", cwd=tmp_path, env=environment()) as gateway:
        own = gateway.url.removesuffix("/v1")
        for ask in commands_with("curl -i"):
            text = ask.text.replace("http://GATEWAY", own).replace(ROOT_ADDRESS, own)
            assert run_in_shell(text, tmp_path, KEY="any").startswith("HTTP/1.1 200 OK"), text
        [metrics] = commands_with("curl -s http://GATEWAY:9464/metrics")
        text = metrics.text.replace("GATEWAY:9464", f"127.0.0.1:{port}")
        assert "antiphon_turns_total{" in run_in_shell(text, tmp_path)


def test_a_server_is_compared(provider: Provider, tmp_path: Path) -> None:
    [sample] = commands_with("antiphon conformance")
    run(words_of(sample, provider.url), tmp_path, OPENAI_API_KEY="sk-tests")
    assert json.loads((tmp_path / "report.json").read_text())


def test_an_error_is_explained(tmp_path: Path) -> None:
    [sample] = commands_with("antiphon explain")
    assert run_in_shell(sample.text, tmp_path).startswith("# unanswered_call\n")


def test_the_doctor_finds_no_failure(tmp_path: Path) -> None:
    [sample] = commands_with("antiphon doctor")
    found = run_in_shell(sample.text, tmp_path).splitlines()
    assert found and all(line.startswith("ok ") for line in found)


def test_a_client_reads_the_variable(tools: Tools, tmp_path: Path) -> None:
    [command] = commands_with("export OPENAI_BASE_URL")
    program = "from openai import OpenAI; print(OpenAI(api_key='any').base_url)"
    client = f"{shlex.quote(str(tools.python))} -c {shlex.quote(program)}"
    assert run_in_shell(f"{command.text}\n{client}", tmp_path) == f"{ADDRESS}/\n"
