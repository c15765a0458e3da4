#!/usr/bin/env python3
"""Builds the container image without a container engine: an OCI image layout in one tar file.

    build_image.py --version V --out FILE.tar [--revision COMMIT] [--source URL] BINARY...

Each BINARY is an `antiphon` for Linux, linked statically (build_binary.sh); its file says for which
processor it is. With two of them the image is for both. Equal inputs make equal files.

    docker load --input FILE.tar
    podman load --input FILE.tar
    skopeo copy --all oci-archive:FILE.tar docker://REGISTRY/NAME:TAG
"""

import argparse
import gzip
import hashlib
import io
import json
import struct
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BINARY = "usr/local/bin/antiphon"
STATE = "var/lib/antiphon"
# A number, so that Kubernetes can see that it is not root.
USER = 65532

# The bound on the unpacked layer.
MAX_BYTES = 40_000_000

# In the units of the health check.
SECOND = 1_000_000_000

# All times in the image.
EPOCH = "1970-01-01T00:00:00Z"

CONFIG: dict[str, Any] = {
    "User": f"{USER}:{USER}",
    "ExposedPorts": {"8484/tcp": {}},
    "Env": [
        "ANTIPHON_LISTEN=0.0.0.0:8484",
        f"ANTIPHON_STORE=sqlite:/{STATE}/antiphon.db",
        "ANTIPHON_LOG_FORMAT=json",
        f"SQLITE_TMPDIR=/{STATE}",
    ],
    "Entrypoint": [f"/{BINARY}"],
    "Cmd": ["serve"],
    # Docker's own field. A start may migrate tables.
    "Healthcheck": {
        "Test": ["CMD", f"/{BINARY}", "health"],
        "Interval": 30 * SECOND,
        "Timeout": 15 * SECOND,
        "StartPeriod": 600 * SECOND,
        "Retries": 3,
    },
    "Volumes": {f"/{STATE}": {}},
    "WorkingDir": f"/{STATE}",
    "StopSignal": "SIGTERM",
}

LABELS = {
    "org.opencontainers.image.title": "antiphon",
    "org.opencontainers.image.description": "Keeps an agent's conversation state correct",
    "org.opencontainers.image.licenses": "Apache-2.0",
}

OCI = "application/vnd.oci.image"


def main() -> int:
    options = parse_options()
    labels = {**LABELS, "org.opencontainers.image.version": options.version}
    for name in ("revision", "source"):
        if value := getattr(options, name):
            labels[f"org.opencontainers.image.{name}"] = value
    try:
        layout = build_layout([path.read_bytes() for path in options.binaries], labels)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    options.out.write_bytes(layout)
    return 0


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--version", required=True, help="of the program; also the image's tag")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.tar")
    parser.add_argument("--revision", help="the commit of the source")
    parser.add_argument("--source", help="the URL of the repository")
    parser.add_argument("binaries", type=Path, nargs="+", metavar="BINARY")
    return parser.parse_args()


def build_layout(binaries: list[bytes], labels: dict[str, str]) -> bytes:
    """The tar file of an image for the processors of these binaries.

    Raises `ValueError` if a binary is not a static one for Linux, is too large, or if two are for
    the same processor.
    """
    blobs = Blobs({})
    manifests = [build_manifest(blobs, binary, labels) for binary in binaries]
    platforms = [manifest["platform"]["architecture"] for manifest in manifests]
    if len(set(platforms)) < len(platforms):
        raise ValueError(f"two binaries are for {platforms[0]}")
    top = manifests[0]
    if len(manifests) > 1:
        top = blobs.add_json(f"{OCI}.index.v1+json", index_of(manifests))
    name = f"antiphon:{labels['org.opencontainers.image.version']}"
    annotations = {
        "org.opencontainers.image.ref.name": name,
        "io.containerd.image.name": f"docker.io/library/{name}",
    }
    index = index_of([{**top, "annotations": annotations}])
    return blobs.to_layout(index, blobs.archive_manifest(manifests[0], name))


def build_manifest(blobs: "Blobs", binary: bytes, labels: dict[str, str]) -> dict[str, Any]:
    """Adds the layer, the configuration and the manifest; returns the manifest's descriptor."""
    if len(binary) > MAX_BYTES:
        raise ValueError(f"the binary has {len(binary)} bytes; the bound is {MAX_BYTES}")
    platform = {"architecture": architecture(binary), "os": "linux"}
    layer = build_layer(binary)
    config = {
        **platform,
        "created": EPOCH,
        "config": {**CONFIG, "Labels": labels},
        "rootfs": {"type": "layers", "diff_ids": [digest(layer)]},
        "history": [{"created": EPOCH, "created_by": "deploy/container/build_image.py"}],
    }
    manifest = {
        "schemaVersion": 2,
        "mediaType": f"{OCI}.manifest.v1+json",
        "config": blobs.add_json(f"{OCI}.config.v1+json", config),
        "layers": [blobs.add(f"{OCI}.layer.v1.tar+gzip", gzip.compress(layer, mtime=0))],
        "annotations": labels,
    }
    return {**blobs.add_json(f"{OCI}.manifest.v1+json", manifest), "platform": platform}


def build_layer(binary: bytes) -> bytes:
    """The whole file system: the binary, and the directory for the store."""
    parents = [parent for path in (BINARY, STATE) for parent in parents_of(path)]
    entries = [directory(name) for name in sorted(set(parents))]
    return tar_of([*entries, directory(STATE, 0o700, USER)], {BINARY: (binary, 0o755)})


def parents_of(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def directory(name: str, mode: int = 0o755, owner: int = 0) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode, entry.uid, entry.gid = tarfile.DIRTYPE, mode, owner, owner
    return entry


def tar_of(directories: list[tarfile.TarInfo], files: dict[str, tuple[bytes, int]]) -> bytes:
    """A tar file without times and names of users."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for entry in directories:
            archive.addfile(entry)
        for name, (content, mode) in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), mode
            archive.addfile(entry, io.BytesIO(content))
    return out.getvalue()


@dataclass(frozen=True)
class Blobs:
    """The contents of an image by their digests."""

    contents: dict[str, bytes]

    def add(self, media_type: str, content: bytes) -> dict[str, Any]:
        """Adds a content; returns its descriptor."""
        self.contents[digest(content)] = content
        return {"mediaType": media_type, "digest": digest(content), "size": len(content)}

    def add_json(self, media_type: str, value: dict[str, Any]) -> dict[str, Any]:
        return self.add(media_type, to_json(value))

    def archive_manifest(self, manifest: dict[str, Any], name: str) -> list[dict[str, Any]]:
        """The same image for a Docker that does not read layouts: for one processor."""
        parts = json.loads(self.contents[manifest["digest"]])
        layers = [blob_path(layer["digest"]) for layer in parts["layers"]]
        config = blob_path(parts["config"]["digest"])
        return [{"Config": config, "RepoTags": [name], "Layers": layers}]

    def to_layout(self, index: dict[str, Any], archive: list[dict[str, Any]]) -> bytes:
        """The image layout, with this index as its top."""
        files = {
            "oci-layout": to_json({"imageLayoutVersion": "1.0.0"}),
            "index.json": to_json(index),
            "manifest.json": to_json(archive),
        }
        for name, content in sorted(self.contents.items()):
            files[blob_path(name)] = content
        directories = [directory("blobs"), directory("blobs/sha256")]
        return tar_of(directories, {name: (content, 0o644) for name, content in files.items()})


def blob_path(digest: str) -> str:
    return f"blobs/{digest.replace(':', '/')}"


def index_of(manifests: list[dict[str, Any]]) -> dict[str, Any]:
    return {"schemaVersion": 2, "mediaType": f"{OCI}.index.v1+json", "manifests": manifests}


def digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def to_json(value: dict[str, Any] | list[dict[str, Any]]) -> bytes:
    return json.dumps(value, indent=2, sort_keys=True).encode()


# `e_machine` of ELF, and the names that images have for it.
ARCHITECTURES = {62: "amd64", 183: "arm64"}
PROGRAM_INTERPRETER = 3


def architecture(binary: bytes) -> str:
    """The processor of a static binary for 64 bits, as images name it."""
    if binary[:6] != b"\x7fELF\x02\x01":
        raise ValueError("the binary is not for Linux on a 64-bit processor: it is not an ELF file")
    (machine,) = struct.unpack_from("<H", binary, 18)
    if machine not in ARCHITECTURES:
        raise ValueError(f"the binary is for a processor without an image (ELF machine {machine})")
    if PROGRAM_INTERPRETER in program_headers(binary):
        raise ValueError("the binary is linked dynamically: build it with build_binary.sh")
    return ARCHITECTURES[machine]


def program_headers(binary: bytes) -> list[int]:
    """The types of the segments."""
    (offset,) = struct.unpack_from("<Q", binary, 32)
    size, count = struct.unpack_from("<HH", binary, 54)
    return [struct.unpack_from("<I", binary, offset + size * at)[0] for at in range(count)]


if __name__ == "__main__":
    sys.exit(main())
