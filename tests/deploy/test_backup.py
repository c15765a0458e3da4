"""The backups of docs/upgrade.md: made beside a running gateway, and restored."""

import json
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from conftest import antiphon

from servers import serving  # isort: skip

TIMEOUT = 30
SECRET = "the secret of the test"


@contextmanager
def gateway(store: Path, *secrets: str) -> Iterator[str]:
    """The URL of a gateway on this store."""
    command = [*serve(store, *secrets), "--listen", "127.0.0.1:0"]
    with serving(command, store.with_suffix(".log"), cwd=store.parent) as started:
        yield started.url


def serve(store: Path, *secrets: str) -> list[str | Path]:
    given = [word for secret in secrets for word in ("--secret", secret)]
    return [antiphon(), "serve", "--store", f"sqlite:{store}", *given]


def ask(url: str, text: str, **fields: str) -> dict[str, Any]:
    """A turn with the built-in model."""
    body = json.dumps({"model": "sim", "input": text, **fields}).encode()
    headers = {"content-type": "application/json", "authorization": "Bearer any"}
    with urlopen(Request(f"{url}/responses", body, headers), timeout=TIMEOUT) as answer:
        return dict(json.load(answer))


def back_up(store: Path, copy: Path) -> None:
    """As `sqlite3 STORE ".backup COPY"` does, with the same function of SQLite."""
    with closing(sqlite3.connect(store)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)


@pytest.fixture
def backup(tmp_path: Path) -> tuple[Path, str]:
    """A backup made while the gateway answers, and the response in it."""
    copy = tmp_path / "backup.db"
    with gateway(tmp_path / "antiphon.db", SECRET) as url:
        response = ask(url, "My color is purple")
        back_up(tmp_path / "antiphon.db", copy)
        later = ask(url, "Hello", previous_response_id=response["id"])
    assert later["status"] == "completed"
    return copy, response["id"]


def test_a_conversation_continues_from_a_backup(backup: tuple[Path, str]) -> None:
    copy, response = backup
    with gateway(copy, SECRET) as url:
        answer = ask(url, "What is my color?", previous_response_id=response)
    assert "purple" in json.dumps(answer["output"])


def test_a_backup_needs_its_secret(backup: tuple[Path, str]) -> None:
    copy, _ = backup
    for secrets in ((), ("another secret of the test",)):
        command = [*serve(copy, *secrets), "--check"]
        ended = subprocess.run(command, capture_output=True, text=True)
        assert ended.returncode == 1
        assert "secret" in ended.stderr


def test_a_newer_release_is_not_rolled_back_on_its_store(backup: tuple[Path, str]) -> None:
    """The tables have a version that only a newer release knows."""
    copy, _ = backup
    with closing(sqlite3.connect(copy)) as database:
        [(known,)] = database.execute("PRAGMA user_version").fetchall()
        database.execute(f"PRAGMA user_version = {known + 1}")
    command = [*serve(copy, SECRET), "--check"]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 1
    assert "written by a newer version of Antiphon" in ended.stderr
    assert "restore a backup" in ended.stderr


def test_a_store_without_its_secret_moves_to_another(
    backup: tuple[Path, str], tmp_path: Path
) -> None:
    """An export of a tenant needs no secret, and the other store has a key of its own."""
    copy, response = backup
    export, other = tmp_path / "export.jsonl", f"sqlite:{tmp_path / 'other.db'}"
    [tenant] = run("tenants", "--store", f"sqlite:{copy}").splitlines()
    name = json.loads(tenant)["tenant"]
    run("export", "--store", f"sqlite:{copy}", "--tenant", name, "--output", export)
    run("import", "--store", other, "--tenant", name, export)
    with gateway(tmp_path / "other.db") as url:
        answer = ask(url, "What is my color?", previous_response_id=response)
    assert "purple" in json.dumps(answer["output"])


def run(*words: str | Path) -> str:
    ended = subprocess.run([antiphon(), *words], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout
