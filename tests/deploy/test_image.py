"""The container image: its layout, its file system and its settings.

The binaries are small ELF files: of a real one the image holds nothing else, either.
"""

import gzip
import hashlib
import io
import json
import os
import platform
import re
import shlex
import struct
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from conftest import DEPLOY

import build_image  # isort: skip

AMD64, ARM64, RISCV = 62, 183, 243
INTERPRETER, LOADED = 3, 1

LABELS = {**build_image.LABELS, "org.opencontainers.image.version": "1.2.3"}


def elf(machine: int, segment: int = LOADED) -> bytes:
    """An ELF file with the header and one segment."""
    head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 2, machine, 1, 0, 64, 0, 0,
                       64, 56, 1, 0, 0, 0)  # fmt: skip
    return head + struct.pack("<I", segment) + b"\0" * 52


@pytest.fixture(params=["file", "program"])
def layout(request: pytest.FixtureRequest, tmp_path: Path) -> "Layout":
    """An image for two processors, from the function and from the program."""
    binaries = [elf(AMD64), elf(ARM64)]
    if request.param == "file":
        return Layout(build_image.build_layout(binaries, LABELS))
    files = [tmp_path / "amd64", tmp_path / "arm64"]
    for file, content in zip(files, binaries, strict=True):
        file.write_bytes(content)
    script = DEPLOY / "container" / "build_image.py"
    command = [sys.executable, script, "--version", "1.2.3", "--out", tmp_path / "image", *files]
    subprocess.run(command, check=True)
    return Layout((tmp_path / "image").read_bytes())


class Layout:
    """An image layout, read from its tar file."""

    def __init__(self, content: bytes) -> None:
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            opened = {entry.name: archive.extractfile(entry) for entry in archive.getmembers()}
        self.files = {name: file.read() for name, file in opened.items() if file}

    def blob(self, descriptor: dict[str, Any]) -> bytes:
        """The content that a descriptor names, if its size and digest are right."""
        content = self.files[f"blobs/{descriptor['digest'].replace(':', '/')}"]
        assert len(content) == descriptor["size"]
        assert sha256(content) == descriptor["digest"]
        return content

    def top(self) -> dict[str, Any]:
        [top] = json.loads(self.files["index.json"])["manifests"]
        return dict(top)

    def manifests(self) -> list[dict[str, Any]]:
        """The descriptor of the manifest for each processor."""
        top = self.top()
        if top["mediaType"].endswith("manifest.v1+json"):
            return [top]
        return list(json.loads(self.blob(top))["manifests"])

    def manifest(self, at: int = 0) -> dict[str, Any]:
        return dict(json.loads(self.blob(self.manifests()[at])))

    def config(self, at: int = 0) -> dict[str, Any]:
        return dict(json.loads(self.blob(self.manifest(at)["config"])))

    def layer(self, at: int = 0) -> bytes:
        [layer] = self.manifest(at)["layers"]
        return gzip.decompress(self.blob(layer))


def test_it_has_an_image_for_each_processor(layout: Layout) -> None:
    assert json.loads(layout.files["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
    platforms = [manifest["platform"] for manifest in layout.manifests()]
    assert platforms == [
        {"architecture": "amd64", "os": "linux"},
        {"architecture": "arm64", "os": "linux"},
    ]
    assert [layout.config(at)["architecture"] for at in (0, 1)] == ["amd64", "arm64"]
    assert layout.top()["annotations"]["org.opencontainers.image.ref.name"] == "antiphon:1.2.3"


def test_an_older_docker_finds_the_image_for_the_first_processor(layout: Layout) -> None:
    [image] = json.loads(layout.files["manifest.json"])
    assert image["RepoTags"] == ["antiphon:1.2.3"]
    assert json.loads(layout.files[image["Config"]]) == layout.config(0)
    [layer] = image["Layers"]
    assert gzip.decompress(layout.files[layer]) == layout.layer(0)


def test_it_has_no_contents_without_a_name(layout: Layout) -> None:
    """And each has the digest that its name says."""
    blobs = {name: content for name, content in layout.files.items() if name.startswith("blobs/")}
    assert {sha256(content).replace(":", "/") for content in blobs.values()} == {
        name.removeprefix("blobs/") for name in blobs
    }
    named = [layout.top(), *layout.manifests()]
    for at in (0, 1):
        named += [layout.manifest(at)["config"], *layout.manifest(at)["layers"]]
    assert {f"blobs/{entry['digest'].replace(':', '/')}" for entry in named} == set(blobs)


def test_its_layer_is_the_binary_and_a_directory_for_the_store(layout: Layout) -> None:
    layer = layout.layer(1)
    assert layout.config(1)["rootfs"] == {"type": "layers", "diff_ids": [sha256(layer)]}
    with tarfile.open(fileobj=io.BytesIO(layer)) as archive:
        entries = {entry.name: entry for entry in archive.getmembers()}
        binary = archive.extractfile("usr/local/bin/antiphon")
        assert binary and binary.read() == elf(ARM64)
    assert {name: (entry.mode, entry.uid) for name, entry in entries.items()} == {
        "usr": (0o755, 0),
        "usr/local": (0o755, 0),
        "usr/local/bin": (0o755, 0),
        "usr/local/bin/antiphon": (0o755, 0),
        "var": (0o755, 0),
        "var/lib": (0o755, 0),
        "var/lib/antiphon": (0o700, 65532),
    }


def test_equal_inputs_make_equal_images() -> None:
    one, other = (build_image.build_layout([elf(AMD64)], LABELS) for _ in range(2))
    assert one == other
    assert len(Layout(one).manifests()) == 1


@pytest.mark.parametrize(
    ("binaries", "reason"),
    [
        ([b"#!/bin/sh\n"], "not an ELF file"),
        ([elf(AMD64, INTERPRETER)], "linked dynamically"),
        ([elf(RISCV)], "without an image"),
        ([elf(AMD64), elf(AMD64)], "two binaries are for amd64"),
        ([elf(AMD64) + bytes(build_image.MAX_BYTES)], "the bound is 40000000"),
    ],
)
def test_other_binaries_are_rejected(binaries: list[bytes], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        build_image.build_layout(binaries, LABELS)


def test_the_dockerfile_makes_the_same_image(layout: Layout) -> None:
    """Its last stage has the settings that the image has."""
    config = layout.config()["config"]
    stage = last_stage((DEPLOY / "container" / "Dockerfile").read_text())
    assert stage.pop("FROM") == ["scratch"]
    assert stage.pop("COPY") == ["--from=build /image /"]
    assert stage.pop("USER") == [config.pop("User")]
    assert stage.pop("STOPSIGNAL") == [config.pop("StopSignal")]
    assert stage.pop("WORKDIR") == [config.pop("WorkingDir")]
    assert stage.pop("EXPOSE") == list(config.pop("ExposedPorts"))
    assert stage.pop("VOLUME") == list(config.pop("Volumes"))
    assert stage.pop("ENV") == config.pop("Env")
    assert json.loads(stage.pop("ENTRYPOINT")[0]) == config.pop("Entrypoint")
    assert json.loads(stage.pop("CMD")[0]) == config.pop("Cmd")
    assert health_check(stage.pop("HEALTHCHECK")[0]) == config.pop("Healthcheck")
    labels = config.pop("Labels")
    assert shlex.split(" ".join(stage.pop("LABEL"))) == [
        f"{name}={labels[name]}" for name in build_image.LABELS
    ]
    assert (stage, config) == ({}, {})


def test_the_user_is_a_number_other_than_root(layout: Layout) -> None:
    user = layout.config()["config"]["User"]
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", user)


def health_check(instruction: str) -> dict[str, Any]:
    """The instruction of a Dockerfile, as the configuration of an image has it."""
    options, _, command = instruction.partition(" CMD ")
    given = dict(option.removeprefix("--").split("=") for option in options.split())
    seconds = {
        name: int(given[option].removesuffix("s")) * build_image.SECOND
        for name, option in (
            ("Interval", "interval"),
            ("Timeout", "timeout"),
            ("StartPeriod", "start-period"),
        )
    }
    return {"Test": ["CMD", *json.loads(command)], "Retries": int(given["retries"]), **seconds}


def last_stage(dockerfile: str) -> dict[str, list[str]]:
    """The values of each instruction after the last FROM, and of that."""
    lines = [line for line in dockerfile.splitlines() if re.match(r"[A-Z]+ ", line)]
    start = max(at for at, line in enumerate(lines) if line.startswith("FROM "))
    stage: dict[str, list[str]] = {}
    for line in lines[start:]:
        instruction, value = line.split(" ", 1)
        stage.setdefault(instruction, []).append(value)
    return stage


def sha256(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


OTHER = "aarch64" if platform.machine() == "x86_64" else "x86_64"
REJECTED = {
    "riscv64gc-unknown-linux-musl": "riscv64gc-unknown-linux-musl is no target of the container",
    "x86_64-unknown-linux-musl --optimized": "unexpected argument: --optimized",
    "--optimized sparc64-unknown-linux-musl": "sparc64-unknown-linux-musl is no target",
    f"--optimized {OTHER}-unknown-linux-musl": f"needs a machine of {OTHER}-unknown-linux-musl",
}


@pytest.mark.parametrize("arguments", REJECTED)
def test_arguments_are_rejected_before_a_build(arguments: str) -> None:
    script = DEPLOY / "container" / "build_binary.sh"
    ended = subprocess.run([script, *arguments.split()], capture_output=True, text=True)
    assert ended.returncode == 2
    assert REJECTED[arguments] in ended.stderr


def test_the_linker_joins_the_symbol_of_the_counters(tmp_path: Path) -> None:
    """A stub in place of cargo-zigbuild prints its arguments."""
    stub = tmp_path / "cargo-zigbuild"
    stub.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
    stub.chmod(0o755)
    command = [DEPLOY / "container" / "link_with_zig.sh", "a.o", "-u", "counters", "-o", "a b"]
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "ZIG_TARGET": "x86_64-linux-musl"}
    linked = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    arguments = linked.stdout.splitlines()
    assert arguments[:3] == ["zig", "cc", "--"]
    assert arguments[-4:] == ["a.o", "-Wl,-u,counters", "-o", "a b"]
    assert arguments[arguments.index("-target") + 1] == "x86_64-linux-musl"
