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
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

# By target: the words of `uname -s` and `uname -m`, those of PowerShell, and those of Homebrew.
PLATFORMS = {
    "aarch64-apple-darwin": ("Darwin arm64", "macOS Arm64", "on_macos", "on_arm"),
    "aarch64-unknown-linux-musl": ("Linux aarch64", "Linux Arm64", "on_linux", "on_arm"),
    "x86_64-apple-darwin": ("Darwin x86_64", "macOS X64", "on_macos", "on_intel"),
    "x86_64-unknown-linux-musl": ("Linux x86_64", "Linux X64", "on_linux", "on_intel"),
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
        target: (f"antiphon-{options.version}-{target}.tar.gz", archive(Path(binary).read_bytes()))
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


def archive(binary: bytes) -> bytes:
    """The binary, the licence and the README, without times and names of users."""
    files = [("antiphon", binary, 0o755)]
    files += [(name, (ROOT / name).read_bytes(), 0o644) for name in ("LICENSE", "README.md")]
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
        f'"{PLATFORMS[target][0]}") archive={name} sha256={checksum} ;;'
        for target, (name, checksum) in sums.items()
    ]


def powershell_entries(sums: Sums) -> list[str]:
    """The entries of a hash table of PowerShell."""
    return [
        f"'{PLATFORMS[target][1]}' = @{{ Name = '{name}'; Sha256 = '{checksum}' }}"
        for target, (name, checksum) in sums.items()
    ]


INSTALLERS = {"install.ps1": powershell_entries, "install.sh": shell_cases}


def formula(version: str, url: str, homepage: str, sums: Sums) -> str:
    """The formula of Homebrew, for a tap."""
    blocks = []
    for target, (name, checksum) in sums.items():
        _, _, system, processor = PLATFORMS[target]
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
