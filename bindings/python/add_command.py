#!/usr/bin/env python3
"""Adds the command `antiphon` to wheels: an installer copies it to the directory of the programs.

    add_command.py --command FILE WHEEL...

FILE is the binary for the platform of the wheels; that for Windows ends in `.exe`. On Linux it is
linked statically, so that one binary fits every C library. The wheels are replaced.
"""

import argparse
import base64
import hashlib
import os
import sys
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

# The mode of a regular file that everyone may run, in the place of a ZIP entry for it.
EXECUTABLE = 0o100755 << 16


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--command", type=Path, required=True, help="the binary")
    parser.add_argument("wheels", type=Path, nargs="+", metavar="WHEEL")
    options = parser.parse_args()
    for wheel in options.wheels:
        try:
            add_command(wheel, options.command)
        except ValueError as error:
            print(f"error: {wheel}: {error}", file=sys.stderr)
            return 1
    return 0


def add_command(wheel: Path, binary: Path) -> None:
    """Replaces the wheel by one with the command; its other files keep their bytes.

    Raises `ValueError` if the wheel has a command already, or no record of its files.
    """
    command = binary.read_bytes()
    unfinished = wheel.with_suffix(".unfinished")
    with ZipFile(wheel) as old:
        record = record_of(old)
        name = "antiphon.exe" if binary.suffix == ".exe" else "antiphon"
        script = f"{record.filename.removesuffix('.dist-info/RECORD')}.data/scripts/{name}"
        if script in old.namelist():
            raise ValueError("the wheel has a command already")
    with ZipFile(wheel) as old, ZipFile(unfinished, "w", ZIP_DEFLATED) as new:
        for entry in old.infolist():
            if entry.filename != record.filename:
                new.writestr(entry, old.read(entry))
        new.writestr(entry_like(record, script), command)
        lines = old.read(record).rstrip(b"\n")
        new.writestr(record, lines + b"\n" + record_line(script, command))
    os.replace(unfinished, wheel)


def record_of(wheel: ZipFile) -> ZipInfo:
    """The entry of the list of all files, which the specification of wheels wants last."""
    for entry in wheel.infolist():
        if entry.filename.endswith(".dist-info/RECORD") and entry.filename.count("/") == 1:
            return entry
    raise ValueError("the file is not a wheel: it has no RECORD")


def entry_like(record: ZipInfo, script: str) -> ZipInfo:
    """The entry of the command, with the time of the record: equal inputs make equal wheels."""
    entry = ZipInfo(script, record.date_time)
    entry.compress_type = ZIP_DEFLATED
    entry.create_system = 3  # Unix, whose modes are in `external_attr`
    entry.external_attr = EXECUTABLE
    return entry


def record_line(name: str, content: bytes) -> bytes:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
    return f"{name},sha256={digest.decode()},{len(content)}\n".encode()


if __name__ == "__main__":
    sys.exit(main())
