#!/usr/bin/env python3
"""Assembles the files of a release: an archive for each platform, their checksums, the installers
for a shell and for PowerShell, and the formula for Homebrew.

    assemble.py --version V --url URL --homepage URL --out DIR TARGET=BINARY...

URL is the address of the directory that the files will have. Equal inputs make equal files.
"""

import argparse
import gzip
import hashlib
import io
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


class Platform(NamedTuple):
    """The names of a platform. A shell and Homebrew have none for Windows."""

    # The words of the system and of the processor in PowerShell.
    powershell: str
    # The words of `uname -s` and `uname -m`.
    shell: str | None = None
    # The blocks of a formula.
    homebrew: tuple[str, str] | None = None

    @property
    def is_windows(self) -> bool:
        return self.powershell.startswith("Windows ")

    @property
    def command(self) -> str:
        """The file name of the command."""
        return "antiphon.exe" if self.is_windows else "antiphon"

    @property
    def suffix(self) -> str:
        """That of an archive. Windows opens ZIP files without other programs."""
        return ".zip" if self.is_windows else ".tar.gz"


# By target.
PLATFORMS = {
    "aarch64-apple-darwin": Platform("macOS Arm64", "Darwin arm64", ("on_macos", "on_arm")),
    "aarch64-pc-windows-msvc": Platform("Windows Arm64"),
    "aarch64-unknown-linux-musl": Platform("Linux Arm64", "Linux aarch64", ("on_linux", "on_arm")),
    "x86_64-apple-darwin": Platform("macOS X64", "Darwin x86_64", ("on_macos", "on_intel")),
    "x86_64-pc-windows-msvc": Platform("Windows X64"),
    "x86_64-unknown-linux-musl": Platform("Linux X64", "Linux x86_64", ("on_linux", "on_intel")),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--version", required=True)
    parser.add_argument("--url", required=True, help="of the directory with the files")
    parser.add_argument("--homepage", required=True, help="for the formula")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("binaries", nargs="+", metavar="TARGET=BINARY")
    options = parser.parse_args()
    given = dict(binary.split("=", 1) for binary in options.binaries)
    if unknown := sorted(set(given) - set(PLATFORMS)):
        print(f"error: unknown targets: {', '.join(unknown)}", file=sys.stderr)
        return 2
    archives = {
        target: (
            f"antiphon-{options.version}-{target}{PLATFORMS[target].suffix}",
            archive(PLATFORMS[target], Path(binary).read_bytes()),
        )
        for target, binary in sorted(given.items())
    }
    sums = {target: (name, sha256(content)) for target, (name, content) in archives.items()}
    options.out.mkdir(parents=True, exist_ok=True)
    for name, content in archives.values():
        (options.out / name).write_bytes(content)
    (options.out / "SHA256SUMS").write_text(checksums(sums))
    for name, archives_of in INSTALLERS.items():
        text = installer(name, archives_of(sums), options.version, options.url)
        (options.out / name).write_text(text)
    formula_text = formula(options.version, options.url, options.homepage, sums)
    (options.out / "antiphon.rb").write_text(formula_text)
    return 0


# A file's name, content and mode.
File = tuple[str, bytes, int]


def archive(platform: Platform, binary: bytes) -> bytes:
    """The binary, the licence and the README, without times and names of users."""
    files = [(platform.command, binary, 0o755)]
    files += [(name, (ROOT / name).read_bytes(), 0o644) for name in ("LICENSE", "README.md")]
    return zip_archive(files) if platform.is_windows else tar_archive(files)


def zip_archive(files: list[File]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, content, _ in files:
            # Its time is the first one of the format.
            zipped.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def tar_archive(files: list[File]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content, mode in files:
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), mode
            tar.addfile(entry, io.BytesIO(content))
    return gzip.compress(out.getvalue(), mtime=0)


# The name and the checksum of each target's archive.
Sums = dict[str, tuple[str, str]]


def checksums(sums: Sums) -> str:
    """In the form of `sha256sum`."""
    return "".join(f"{checksum}  {name}\n" for name, checksum in sums.values())


def installer(name: str, archives: list[str], version: str, url: str) -> str:
    """A script with the archives of this release and their checksums in it."""
    template = (HERE / f"{name}.in").read_text()
    filled = template.replace("@VERSION@", version).replace("@URL@", url.rstrip("/"))
    return filled.replace("@ARCHIVES@", "\n".join(archives))


def shell_cases(sums: Sums) -> list[str]:
    """The branches of a `case` of the shell."""
    return [
        f'"{shell}") archive={name} sha256={checksum} ;;'
        for target, (name, checksum) in sums.items()
        if (shell := PLATFORMS[target].shell)
    ]


def powershell_entries(sums: Sums) -> list[str]:
    """The entries of a hash table of PowerShell."""
    return [
        f"'{PLATFORMS[target].powershell}' = @{{ Name = '{name}'; Sha256 = '{checksum}' }}"
        for target, (name, checksum) in sums.items()
    ]


INSTALLERS = {"install.ps1": powershell_entries, "install.sh": shell_cases}


def formula(version: str, url: str, homepage: str, sums: Sums) -> str:
    """The formula of Homebrew, for a tap."""
    blocks = []
    for target, (name, checksum) in sums.items():
        if (names := PLATFORMS[target].homebrew) is None:
            continue
        system, processor = names
        blocks.append(
            f"  {system} do\n    {processor} do\n"
            f'      url "{url.rstrip("/")}/{name}"\n      sha256 "{checksum}"\n    end\n  end\n'
        )
    template = (HERE / "antiphon.rb.in").read_text()
    filled = template.replace("@VERSION@", version).replace("@HOMEPAGE@", homepage)
    return filled.replace("@ARCHIVES@", "\n".join(blocks).rstrip())


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
