#!/usr/bin/env python3
"""Finds the broken links of a built site: files and anchors within it that do not exist.

    links.py DIR

Prints one line for each, and exits with 1 if there are any. It asks no other server.
"""

import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


@dataclass
class Page(HTMLParser):
    """The links and the anchors of a page."""

    text: str
    links: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name in ("id", "name") and value:
                self.anchors.add(value)


def broken_links(site: Path) -> list[str]:
    """Each broken link, as `page: link`."""
    root = site.resolve()
    pages = {file.resolve(): Page(file.read_text()) for file in root.rglob("*.html")}
    # These have the other pages in them, or are shown at any address.
    own = [file for file in pages if file.name not in ("print.html", "404.html", "toc.html")]
    return [
        f"{file.relative_to(root)}: {link}"
        for file in sorted(own)
        for link in pages[file].links
        if not leads_somewhere(link, file, pages)
    ]


def leads_somewhere(link: str, file: Path, pages: dict[Path, Page]) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True
    target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
    target = target / "index.html" if target.is_dir() else target
    if not target.exists():
        return False
    anchors = pages[target].anchors if target in pages else set()
    return not parts.fragment or unquote(parts.fragment) in anchors


def main() -> int:
    broken = broken_links(Path(sys.argv[1]))
    for link in broken:
        print(link)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
