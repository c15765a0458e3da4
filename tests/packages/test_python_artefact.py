"""The wheel: what is in it, of which version, and for which interpreters."""

import base64
import hashlib
import re
import shutil
import subprocess
import sys
from email.message import Message
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pytest

from places import PYTHON, ROOT, version

from conftest import Run
from environments import Tools

NATIVE = "antiphon/_native.abi3.so"
COMMAND = f"antiphon-{version()}.data/scripts/antiphon"

# As the names of sections stand in a library.
DEBUG_SECTION = b"\0.debug_info\0"


@pytest.fixture(scope="module")
def files(wheel: Path) -> dict[str, bytes]:
    with ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_it_is_for_every_python_from_3_10_on(wheel: Path) -> None:
    assert re.fullmatch(rf"antiphon-{re.escape(version())}-cp310-abi3-.+\.whl", wheel.name)


def test_it_has_the_workspaces_version(
    files: dict[str, bytes], runs: Run, clean_python: Path
) -> None:
    assert metadata(files)["Version"] == version()
    names = ("antiphon.__version__", "antiphon._native.__version__")
    said = runs(clean_python, "-c", f"import antiphon._native\nprint({', '.join(names)})")
    assert said.split() == [version()] * len(names)


def test_it_holds_the_package_and_nothing_else(files: dict[str, bytes]) -> None:
    source = PYTHON / "python"
    tracked = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=source,
        capture_output=True,
        text=True,
        check=True,
    )
    expected = {name for name in tracked.stdout.split("\0") if name} | {NATIVE, COMMAND}
    assert {name for name in files if ".dist-info/" not in name} == expected
    assert {"antiphon/py.typed", "antiphon/_native.pyi"} <= expected


def test_its_record_names_every_file(files: dict[str, bytes]) -> None:
    [record] = [name for name in files if name.endswith(".dist-info/RECORD")]
    rows = [line.rsplit(",", 2) for line in files[record].decode().splitlines()]
    assert {name: (digest, size) for name, digest, size in rows} == {
        **{name: (sha256(content), str(len(content))) for name, content in files.items()},
        record: ("", ""),
    }


def test_a_command_is_added_once(wheel: Path, tmp_path: Path) -> None:
    """The wheel stays as it was; a file that is no wheel is rejected, too."""
    again, other = tmp_path / wheel.name, tmp_path / "other-1.0-py3-none-any.whl"
    shutil.copy(wheel, again)
    with ZipFile(other, "w") as archive:
        archive.writestr("other/__init__.py", "")
    for file, reason in ((again, "has a command already"), (other, "is not a wheel")):
        before = file.read_bytes()
        add = [sys.executable, PYTHON / "add_command.py", "--command", __file__, file]
        ended = subprocess.run(add, capture_output=True, text=True)
        assert ended.returncode == 1
        assert reason in ended.stderr
        assert file.read_bytes() == before


def test_the_command_for_windows_has_its_suffix(tmp_path: Path) -> None:
    copy, binary = tmp_path / "antiphon-1.0-py3-none-win_amd64.whl", tmp_path / "antiphon.exe"
    with ZipFile(copy, "w") as archive:
        archive.writestr("antiphon-1.0.dist-info/RECORD", "")
    binary.write_bytes(b"MZ")
    subprocess.run([sys.executable, PYTHON / "add_command.py", "--command", binary, copy], check=True)
    with ZipFile(copy) as archive:
        assert archive.read("antiphon-1.0.data/scripts/antiphon.exe") == b"MZ"


def test_its_module_is_a_release(files: dict[str, bytes]) -> None:
    assert DEBUG_SECTION not in files[NATIVE]


def test_it_comes_with_its_licence_and_needs_nothing(files: dict[str, bytes]) -> None:
    [licence] = [text for name, text in files.items() if name.endswith("/LICENSE")]
    assert licence == (ROOT / "LICENSE").read_bytes()
    assert metadata(files)["License-Expression"] == "Apache-2.0"
    assert metadata(files).get_all("Requires-Dist") in (None, [])


def test_importing_it_needs_no_framework(clean_python: Path, runs: Run) -> None:
    said = runs(clean_python, "-c", "import antiphon; print(antiphon.check([]))")
    assert said == "[]\n"


def test_its_types_hold(tools: Tools, runs: Run) -> None:
    """What users see of it, and how it is written inside."""
    runs(*mypy(tools), "-p", "antiphon")


def test_a_users_program_has_types(tools: Tools, runs: Run, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    runs(*mypy(tools), "program.py")


def test_a_users_mistake_is_found(tools: Tools, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import antiphon\n\nantiphon.repair(1)\n")
    command = [*mypy(tools), "program.py"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 1
    assert 'program.py:3: error: No overload variant of "repair"' in ended.stdout


PROGRAM = '''\
import antiphon
from openai import OpenAI
from openai.types.responses import ResponseInputParam


def answered(client: OpenAI, items: ResponseInputParam) -> str:
    """The answer to the items, mended."""
    repaired = antiphon.repair(antiphon.filter_orphaned_reasoning(items).items)
    return client.responses.create(model="gpt-5", input=repaired.items).output_text


def whole(items: list[dict[str, object]]) -> list[object]:
    """The items, mended."""
    for fault in antiphon.check(items):
        print(fault.position, fault.id, fault.message)
    try:
        repaired = antiphon.repair(items, policy="reject")
    except antiphon.UnansweredCall as fault:
        print(fault)
        repaired = antiphon.repair(items)
    return list(repaired.items)
'''


def mypy(tools: Tools) -> list[str | Path]:
    """Frameworks are long to read; what was read of them outlives the run."""
    return [tools.python, "-m", "mypy", "--strict", "--cache-dir", tools.build_dir / "mypy"]


def sha256(content: bytes) -> str:
    """As a wheel's record has it."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest())
    return f"sha256={digest.decode().rstrip('=')}"


def metadata(files: dict[str, bytes]) -> Message:
    [text] = [text.decode() for name, text in files.items() if name.endswith("/METADATA")]
    return Parser().parsestr(text)
