"""The programs that stand in the documents, and what each of them needs."""

import ast
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from places import NODE, PAGES, PYTHON, ROOT

# The names that the documents give to the languages of their code.
PYTHON_CODE = ("python",)
NODE_CODE = ("js", "javascript", "mjs", "ts", "typescript")

FENCED = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
NODE_IMPORT = re.compile(r"""(?:from|import|require\()\s*["']([^."'][^"']*)["']""")


@dataclass(frozen=True)
class Block:
    """A block of code in a document."""

    document: Path
    line: int
    language: str
    code: str

    def __str__(self) -> str:
        return f"{self.document.relative_to(ROOT)}:{self.line}"

    @property
    def is_python(self) -> bool:
        return self.language in PYTHON_CODE

    @property
    def is_node(self) -> bool:
        return self.language in NODE_CODE

    @property
    def needs(self) -> set[str]:
        """The packages that it imports, but for ours and the language's own."""
        return python_needs(self.code) if self.is_python else node_needs(self.code)

    @property
    def lines(self) -> list[str]:
        """Its lines of code: no comments, no empty lines."""
        lines = [line.strip() for line in self.code.splitlines()]
        return [line for line in lines if line and not line.startswith(("#", "//"))]


def blocks(document: Path) -> list[Block]:
    """The programs in a document, in their order."""
    text = document.read_text()
    found = [
        Block(document, text.count("\n", 0, match.start()) + 1, match[1], match[2])
        for match in FENCED.finditer(text)
    ]
    return [block for block in found if block.is_python or block.is_node]


def headings(document: Path) -> list[str]:
    """The headings of a document, without those that only look so in its code."""
    return HEADING.findall(FENCED.sub("", document.read_text()))


def pages() -> list[Path]:
    """The pages for those who use a framework."""
    return sorted(PAGES.glob("*.md"))


def readme_blocks() -> list[Block]:
    """All programs in the packages' READMEs, and those of the root's that use the packages."""
    own = [block for readme in (PYTHON, NODE) for block in blocks(readme / "README.md")]
    return own + [block for block in blocks(ROOT / "README.md") if uses_package(block)]


def uses_package(block: Block) -> bool:
    """Whether it imports the package; other programs in the root's README ask a gateway."""
    return bool(re.search(r"""(import|from) antiphon|["']antiphon["'/]""", block.code))


def python_needs(code: str) -> set[str]:
    modules: set[str] = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules.add(node.module)
    roots = {module.split(".")[0] for module in modules}
    return roots - set(sys.stdlib_module_names) - {"antiphon"}


def node_needs(code: str) -> set[str]:
    modules = set(NODE_IMPORT.findall(code))
    return {name for name in modules if not name.startswith("node:")} - {"antiphon"}
