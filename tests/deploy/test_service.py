"""The service for systemd."""

import configparser
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import DEPLOY, antiphon

SERVICE = DEPLOY / "systemd" / "antiphon.service"


@pytest.fixture
def service() -> configparser.SectionProxy:
    parser = configparser.RawConfigParser(strict=False, comment_prefixes="#")
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(SERVICE)
    return parser["Service"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd")
def test_systemd_accepts_it(tmp_path: Path) -> None:
    """With the binary of the tests, because systemd looks for the file."""
    copy = tmp_path / SERVICE.name
    copy.write_text(SERVICE.read_text().replace("/usr/local/bin/antiphon", str(antiphon())))
    verify = ["systemd-analyze", "verify", copy]
    ended = subprocess.run(verify, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout + ended.stderr) == (0, "")


def test_a_stop_is_longer_than_the_gateways_grace(service: configparser.SectionProxy) -> None:
    assert int(service["TimeoutStopSec"]) >= 25 + 10
    assert service["KillMode"] == "mixed"


def test_a_mistake_in_the_settings_is_not_repeated(
    service: configparser.SectionProxy, tmp_path: Path
) -> None:
    (tmp_path / "antiphon.toml").write_text("no-such-setting = 1\n")
    command = [antiphon(), "serve", "--config", tmp_path / "antiphon.toml"]
    ended = subprocess.run(command, capture_output=True)
    assert str(ended.returncode) == service["RestartPreventExitStatus"]


def test_it_has_files_for_all_connections(service: configparser.SectionProxy) -> None:
    """Two for each of the 20,000 of the default `max-connections`."""
    assert int(service["LimitNOFILE"]) > 2 * 20_000


def test_the_settings_of_init_are_accepted(tmp_path: Path) -> None:
    """As the service reads them: from another directory, by a variable."""
    settings, state = tmp_path / "antiphon.toml", tmp_path / "state"
    state.mkdir()
    subprocess.run([antiphon(), "init", "--yes", settings], check=True, capture_output=True)
    command = [antiphon(), "serve", "--check"]
    env = {"ANTIPHON_CONFIG": str(settings)}
    checked = subprocess.run(command, cwd=state, env=env, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
