"""The suites: which there are, how they run, and how many of their tests passed."""

import os
import platform
import signal
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from installation import PYTHON_SUITES, Installation
from setups import Setup

SUITES = {
    "openai": "test_openai.py",
    "openai_node": "openai.test.js",
    "openai_methods": "test_openai_methods.py",
    "openai_node_methods": "openai_methods.test.js",
    "langchain": "test_langchain.py",
    "langchain_js": "langchain_js.test.js",
    "langgraph": "test_langgraph.py",
    "langgraph_js": "langgraph_js.test.js",
    "openai_agents": "test_openai_agents.py",
    "openai_agents_js": "openai_agents_js.test.js",
    "agent_framework": "test_agent_framework.py",
    "anthropic": "test_anthropic.py",
    "anthropic_node": "anthropic.test.js",
    "ai_sdk_anthropic": "ai_sdk_anthropic.test.js",
    "azure": "test_azure.py",
    "ai_sdk": "ai_sdk.test.js",
    "open_responses": "open_responses.test.js",
    "reasoning": "reasoning.test.js",
    "chat": "test_chat.py",
    "chat_node": "chat.test.js",
    "codex": "codex.test.js",
    "claude_code": "claude_code.test.js",
    "google_genai": "test_google_genai.py",
    "google_genai_node": "google_genai.test.js",
    "gemini_cli": "gemini_cli.test.js",
    "opencode": "opencode.test.js",
    "run_command": "run_command.test.js",
}

# The suites that start gateways of their own.
STARTING = ("run_command",)

# The suites of programs that are pinned for Linux on x86-64 only.
LINUX_X64 = ("opencode",)

TEST_TIMEOUT = 60
RUN_TIMEOUT = 900

# Settings that a shell may hold for these clients, and that must not reach them.
FOREIGN = (
    *("ANTHROPIC_", "OPENAI_", "GEMINI_", "GOOGLE_", "AZURE_", "FOUNDRY_", "LANGCHAIN_", "LANGSMITH_", "LC_OUTPUT_"),
    *("OPENCODE_", "PYTEST_", "NODE_"),
)


@dataclass(frozen=True)
class Tally:
    """How many tests passed, and how many did not."""

    passed: int
    failed: int

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(self.passed + other.passed, self.failed + other.failed)


def suites_in(setup: Setup, every: bool) -> list[str]:
    """The suites that run in a setup: `every` one, or those of a short run."""
    served = [name for name in SUITES if name not in STARTING]
    names = setup.suites or served if every or setup.short is None else setup.short
    here = (platform.system(), platform.machine()) == ("Linux", "x86_64")
    missing = () if here else LINUX_X64
    return [name for name in names if name not in (*setup.without, *missing)]


def run_suites(
    installation: Installation, setup: Setup, names: list[str], long: bool, places: dict[str, str]
) -> Tally:
    """Runs the named suites in a setup, and counts. `places`: its servers and the command."""
    files = [SUITES[name] for name in names]
    env = environment(long, {**places, **setup.env, **installation.versions.env})
    tally = Tally(0, 0)
    for run, ending in ((run_python, ".py"), (run_node, ".js")):
        if chosen := [file for file in files if file.endswith(ending)]:
            tally += run(installation, setup, chosen, env)
    return tally


def run_python(
    installation: Installation, setup: Setup, files: list[str], env: dict[str, str]
) -> Tally:
    report = installation.build_dir / f"python-{setup.name}.xml"
    command = [
        *[installation.python, "-m", "pytest", "--quiet", "--tb=short", "-p", "no:cacheprovider"],
        *[f"--timeout={TEST_TIMEOUT}", f"--junit-xml={report}"],
        *(["-k", setup.only[0]] if setup.only else []),
        *files,
    ]
    return reported(report, lambda: run(command, env, PYTHON_SUITES))


def run_node(
    installation: Installation, setup: Setup, files: list[str], env: dict[str, str]
) -> Tally:
    report = installation.build_dir / f"node-{setup.name}.xml"
    command = [
        *[installation.node, "--test", f"--test-timeout={TEST_TIMEOUT * 1000}"],
        *["--test-reporter=spec", "--test-reporter-destination=stdout"],
        *["--test-reporter=junit", f"--test-reporter-destination={report}"],
        *(["--test-name-pattern", setup.only[1]] if setup.only else []),
        *files,
    ]
    return reported(report, lambda: run(command, env, installation.node_dir))


def reported(report: Path, runner: Callable[[], int]) -> Tally:
    """The tally of the report that `runner` writes.

    A runner that fails without a failed test is one failure.
    """
    report.unlink(missing_ok=True)
    status = runner()
    tally = counted(report)
    return tally if status == 0 or tally.failed else tally + Tally(0, 1)


def counted(report: Path) -> Tally:
    """The tests of a JUnit report; one that cannot be read is one failure."""
    try:
        cases = list(ElementTree.parse(report).iter("testcase"))
    except (OSError, ElementTree.ParseError) as error:
        print(f"no report of the suites: {error}", file=sys.stderr, flush=True)
        return Tally(0, 1)
    failed = sum(1 for case in cases if {child.tag for child in case} & {"failure", "error"})
    return Tally(len(cases) - failed, failed)


def run(command: list[str | Path], env: dict[str, str], cwd: Path) -> int:
    """The command's exit status; whatever it started ends with it, and it ends in time."""
    process = subprocess.Popen(command, env=env, cwd=cwd, start_new_session=True)
    try:
        return process.wait(RUN_TIMEOUT)
    except subprocess.TimeoutExpired:
        print(f"{command[0]} ran longer than {RUN_TIMEOUT} s", file=sys.stderr, flush=True)
        return 1
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def environment(long: bool, servers: dict[str, str]) -> dict[str, str]:
    """This shell's, without settings meant for other servers, and what is said of the servers."""
    own = {k: v for k, v in os.environ.items() if not k.startswith(FOREIGN)}
    return {
        **own,
        **servers,
        "ANTIPHON_CLIENTS": "long" if long else "short",
        "NO_PROXY": "127.0.0.1",
        "no_proxy": "127.0.0.1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
