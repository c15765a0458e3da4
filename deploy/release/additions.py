"""Adds to the installers and the formula of a release the parts for which dist has no setting."""

import re
from pathlib import Path

# After the binary is installed. The service keeps its store in the directory.
FORMULA_FILES = """
    (var/"antiphon").mkpath
    generate_completions_from_executable(bin/"antiphon", "completions")
    system bin/"antiphon", "man", "--dir", man1
"""

FORMULA_BLOCKS = """
  service do
    run [opt_bin/"antiphon", "serve"]
    keep_alive true
    working_dir var/"antiphon"
  end

  test do
    assert_equal "antiphon #{version}\\n", shell_output("#{bin}/antiphon -V")
  end
"""

# Older versions of macOS have `shasum` only. Without `sha256sum` the installer checks nothing.
SHELL_CHECKSUM = """
if ! check_cmd sha256sum && check_cmd shasum; then
    sha256sum() {
        shasum -a 256 "$@"
    }
fi
"""

# The installer for PowerShell as dist writes it checks nothing.
POWERSHELL_CHECKSUM = """
  $found = (Get-FileHash -Algorithm SHA256 -LiteralPath $dir_path).Hash.ToLowerInvariant()
  if ($found -ne $info["sha256"]) {
    throw "$artifact_name has the checksum $found; expected $($info["sha256"])"
  }
"""

# A running gateway keeps the file that it was started from. Windows lets that file be renamed, but
# not replaced or deleted: a later installation deletes it, once no gateway runs from it.
POWERSHELL_RENAME = """
    $command = Join-Path "$dest_dir" "$installed_file"
    Remove-Item -Path "$command.*.old" -Force -ErrorAction SilentlyContinue
    $old = "$command.$PID.old"
    $is_update = Test-Path -LiteralPath $command
    if ($is_update) { Move-Item -LiteralPath $command -Destination $old -ErrorAction Stop }
    try {"""

POWERSHELL_RESTORE = """    } catch {
      if ($is_update) { Move-Item -LiteralPath $old -Destination $command -Force }
      throw
    }
"""


def complete(release: Path) -> None:
    """Adds all parts to the files in the directory of a release."""
    checksums = read_checksums((release / "sha256.sum").read_text())
    formula, shell = release / "antiphon.rb", release / "antiphon-installer.sh"
    powershell = release / "antiphon-installer.ps1"
    formula.write_text(complete_formula(formula.read_text()))
    shell.write_text(complete_shell_installer(shell.read_text()))
    powershell.write_text(complete_powershell_installer(powershell.read_text(), checksums))


def complete_formula(text: str) -> str:
    """Adds the completions, the manual, the service and a test."""
    text = insert(text, "    install_binary_aliases!\n", FORMULA_FILES)
    return insert(text, "unless leftover_contents.empty?\n  end\n", FORMULA_BLOCKS)


def complete_shell_installer(text: str) -> str:
    """Checks the checksum on systems without `sha256sum`, too."""
    run = '\ndownload_binary_and_run_installer "$@" || exit 1\n'
    return insert(text, run, SHELL_CHECKSUM, before=True)


def complete_powershell_installer(text: str, checksums: dict[str, str]) -> str:
    """Checks the checksum, and replaces a command that runs."""
    downloaded = "  Invoke-DownloadFile -client $wc -url $url -path $dir_path\n"
    text = insert(text, downloaded, POWERSHELL_CHECKSUM)
    copied = '\n    Copy-Item "$bin_path" -Destination "$dest_dir" -ErrorAction Stop\n'
    text = insert(text, copied, POWERSHELL_RESTORE)
    text = insert(text, copied, POWERSHELL_RENAME, before=True)
    return re.sub(
        r'^( *)"artifact_name" = "(.*)"$',
        lambda line: f'{line[0]}\n{line[1]}"sha256" = "{checksums[line[2]]}"',
        text,
        flags=re.MULTILINE,
    )


def insert(text: str, beside: str, addition: str, before: bool = False) -> str:
    """Inserts the addition after or before the one place with that text."""
    if (places := text.count(beside)) != 1:
        raise ValueError(f"dist wrote {beside!r} {places} times; expected it once")
    return text.replace(beside, addition + beside if before else beside + addition)


def read_checksums(text: str) -> dict[str, str]:
    """The checksum of each archive, from lines in the form of `sha256sum`."""
    lines = (line.split(" *") for line in text.split("\n") if line)
    return {name: checksum for checksum, name in lines}
