"""The programs, commands and settings on the pages of the site."""

import re
import sys
from dataclasses import dataclass

from places import ROOT

sys.path.append(str(ROOT / "site"))

import build  # noqa: E402

# The languages whose blocks a reader copies; commands are `sh`.
LANGUAGES = ("sh", "python", "js", "ts", "rust", "toml", "yaml")

# In a list a block is indented.
FENCED = re.compile(r"^( *)```(\w+)[^\n]*\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"\s+# .*$")


@dataclass(frozen=True)
class Sample:
    """A block of a page, or one command of a block of commands."""

    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: {self.text.splitlines()[0]}"


def samples() -> list[Sample]:
    """All blocks of all pages, in their order; a block of commands is divided into its commands."""
    return [sample for page in site_pages() for sample in samples_of(page)]


def site_pages() -> list[str]:
    """The paths of all pages but the reference, which is generated and has no blocks."""
    pages = [target for _, _, target in build.LINK.findall(build.summary())]
    return [page for page in pages if page != build.REFERENCE]


def samples_of(page: str) -> list[Sample]:
    text = (ROOT / page).read_text()
    found = []
    for block in FENCED.finditer(text):
        if block[2] in LANGUAGES:
            line = text.count("\n", 0, block.start()) + 1
            parts = commands(block[3]) if block[2] == "sh" else [block[3]]
            found += [Sample(page, line, block[2], part) for part in parts]
    return found


def commands(block: str) -> list[str]:
    """The commands of a block, each in one line, without prompts, comments and output."""
    lines = block.replace("\\\n", " ").splitlines()
    if any(line.startswith("$ ") for line in lines):
        lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    return [" ".join(COMMENT.sub("", line).split()) for line in lines if line.strip()]


def commands_with(part: str) -> list[Sample]:
    """The commands that begin with these words, each text once."""
    found = [sample for sample in samples() if sample.language == "sh"]
    unique = {sample.text: sample for sample in reversed(found) if sample.text.startswith(part)}
    return [*reversed(unique.values())]


def only_block(page: str, language: str) -> str:
    """The one block of a page in this language."""
    [sample] = [sample for sample in samples_of(page) if sample.language == language]
    return sample.text
