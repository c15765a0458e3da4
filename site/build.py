#!/usr/bin/env python3
"""Builds the site with mdBook: the pages of the repository, and the reference of all routes.

    build.py --out DIR [--mdbook PROGRAM] [--repository URL]

`SUMMARY.md.in` lists the pages by their paths in the repository, and links between pages stay links.
A link to a file that is no page leads to the repository, or becomes text without its URL.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from reference import reference

HERE = Path(__file__).parent
ROOT = HERE.parent
OPENAPI = "crates/antiphon-gateway/src/routes/openapi.json"
FAULTS = "crates/antiphon/src/faults/pages"
REFERENCE = "site/reference.md"

# An image or a link; its text may have brackets in two levels, such as `[[upstreams]]`.
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[(?:[^\[\]]|\[[^\[\]]*\])*\])*)\]\(([^)\s]+)\)")
FENCED = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--mdbook", default="mdbook", metavar="PROGRAM")
    parser.add_argument("--repository", help="the address of the files that are no pages")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        book = Path(directory)
        shutil.copy(HERE / "book.toml", book)
        Sources(book / "src", options.repository).write()
        command = [options.mdbook, "build", "--dest-dir", options.out.resolve(), book]
        return subprocess.run(command).returncode


class Sources:
    """The Markdown files of the book, written below a directory."""

    def __init__(self, directory: Path, repository: str | None) -> None:
        self.directory = directory
        self.repository = repository
        self.summary = summary()
        pages = [target for _, _, target in LINK.findall(self.summary)]
        # By the path in the repository, the one in the book.
        self.places = {page: place_of(page) for page in pages}

    def write(self) -> None:
        self.put("SUMMARY.md", LINK.sub(self.linked("SUMMARY.md"), self.summary))
        for page, place in self.places.items():
            self.put(place, self.rewritten(page))

    def put(self, place: str, text: str) -> None:
        file = self.directory / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def rewritten(self, page: str) -> str:
        """The text of a page, with its links as the book needs them. Code stays as it is."""
        text = reference(ROOT / OPENAPI) if page == REFERENCE else (ROOT / page).read_text()
        replaced = self.linked(page)
        parts = [
            part if at % 2 else LINK.sub(replaced, part)
            for at, part in enumerate(FENCED.split(text))
        ]
        return "".join(parts)

    def linked(self, page: str) -> Callable[[re.Match[str]], str]:
        """The function that replaces a link on this page."""

        def replace(match: re.Match[str]) -> str:
            mark, text, target = match.groups()
            path, mark_of_anchor, anchor = target.partition("#")
            if ":" in target or not path:
                return match[0]
            base = "" if page == "SUMMARY.md" else str(PurePosixPath(page).parent)
            named = os.path.normpath(os.path.join(base, path))
            if found := self.place(named):
                start = PurePosixPath(self.places.get(page, page)).parent
                return f"{mark}[{text}]({os.path.relpath(found, start)}{mark_of_anchor}{anchor})"
            if not (ROOT / named).exists():
                raise SystemExit(f"error: {page}: the link {target} leads nowhere")
            if self.repository is None:
                return text
            return f"[{text}]({self.repository}/{named}{mark_of_anchor}{anchor})"

        return replace

    def place(self, named: str) -> str | None:
        """The place in the book of a page, or of an image, which is copied."""
        if named in self.places:
            return self.places[named]
        if named.endswith((".png", ".svg")) and (ROOT / named).exists():
            place = place_of(named)
            (self.directory / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / named, self.directory / place)
            return place
        return None


def summary() -> str:
    """The list of all pages: those of the file, the faults, and every other document at the end."""
    text = (HERE / "SUMMARY.md.in").read_text()
    text = text.replace("@FAULTS@", listed(sorted((ROOT / FAULTS).glob("*.md"))))
    agents = [page for page in sorted((ROOT / "docs/agents").glob("*.md")) if page.stem != "README"]
    text = text.replace("@AGENTS@", listed(agents))
    documents = sorted((ROOT / "docs").rglob("*.md"))
    others = [page for page in documents if f"({path_of(page)})" not in text]
    return f"{text}\n# More\n\n{listed(others, '')}\n" if others else text


def listed(pages: list[Path], indent: str = "  ") -> str:
    """Pages as entries by their titles; indented, they are below the one before them."""
    rows = []
    for page in pages:
        title = page.read_text().splitlines()[0].removeprefix("# ")
        rows.append(f"{indent}- [{title}]({path_of(page)})")
    return "\n".join(rows)


def path_of(page: Path) -> str:
    """The path in the repository."""
    return page.relative_to(ROOT).as_posix()


def place_of(page: str) -> str:
    """The path in the book: short, because it is the address of the page."""
    if page.startswith(f"{FAULTS}/"):
        return f"faults/{PurePosixPath(page).name}"
    if page.startswith("bindings/"):
        return f"{page.split('/')[1]}.md"
    for head in ("docs/", "site/"):
        page = page.removeprefix(head)
    return page.replace("README.md", "index.md")


if __name__ == "__main__":
    sys.exit(main())
