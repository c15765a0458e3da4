"""Chromium, installed where it is missing, and one headless run of it."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from installation import locked, run

NAMES = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"]

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

STOP_TIMEOUT = 10


def install(build_dir: Path) -> Path:
    """The browser; as root on Debian, its package is installed where there is none."""
    with locked(build_dir / "install.lock"):
        browser = found()
        if browser is None and os.geteuid() == 0 and shutil.which("apt-get"):
            env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
            run(["apt-get", "update"], env=env)
            run(["apt-get", "install", "-y", "--no-install-recommends", "chromium"], env=env)
            browser = found()
    if browser is None:
        raise RuntimeError("Chromium is missing: install it (apt-get install chromium)")
    return browser


def found() -> Path | None:
    paths = [shutil.which(name) for name in NAMES]
    return next((Path(path) for path in paths if path), None)


@contextmanager
def browsing(browser: Path, url: str, rules: list[str], log_path: Path) -> Iterator[None]:
    """The browser with one page open until the block ends, and with no name but those of the rules."""
    rules = [*rules, "MAP * ~NOTFOUND", "EXCLUDE 127.0.0.1"]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile, log_path.open("a") as log:
        command = [browser, *FLAGS, f"--user-data-dir={profile}"]
        process = subprocess.Popen(
            [*command, f"--host-resolver-rules={', '.join(rules)}", url],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            yield
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(STOP_TIMEOUT)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
