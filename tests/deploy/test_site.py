"""The site: it builds, its links lead somewhere, and every page is in it."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

import build  # isort: skip
import links  # isort: skip
from reference import METHODS  # isort: skip

MDBOOK = Path(sys.executable).with_name("mdbook")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site") / "site"
    command = [sys.executable, ROOT / "site" / "build.py", "--out", out, "--mdbook", MDBOOK]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "WARN" not in ended.stdout + ended.stderr
    return out


def test_its_links_lead_somewhere(site: Path) -> None:
    assert links.broken_links(site) == []


def test_broken_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<h1 id="top"></h1><a href="b.html"></a><a href="#gone"></a><a href="b.html#there"></a>'
        '<img src="gone.png"><a href="https://antiphon.example/x"></a><a href="gone.html#top"></a>'
    )
    (tmp_path / "b.html").write_text('<h1 id="there"></h1><a href="a.html#top"></a>')
    assert links.broken_links(tmp_path) == [
        "a.html: #gone",
        "a.html: gone.png",
        "a.html: gone.html#top",
    ]


def test_every_document_is_a_page() -> None:
    summary = build.summary()
    pages = {f"({page.relative_to(ROOT)})" for page in (ROOT / "docs").rglob("*.md")}
    assert {page for page in pages if page not in summary} == set()


def test_every_fault_has_a_page(site: Path) -> None:
    faults = {page.stem for page in (ROOT / build.FAULTS).glob("*.md")}
    assert {page.stem for page in (site / "faults").glob("*.html")} == faults
    assert len(faults) > 10


def test_every_route_is_in_the_reference(site: Path) -> None:
    page = (site / "reference.html").read_text()
    paths = json.loads((ROOT / build.OPENAPI).read_text())["paths"]
    routes = {
        f"{method.upper()} {path}"
        for path, item in paths.items()
        for method in METHODS
        if method in item
    }
    assert set(re.findall(r"<code>((?:GET|POST|DELETE) /[^<]*)</code></a></h3>", page)) == routes


def test_the_errors_of_the_first_page_are_those_of_the_faults() -> None:
    """Their texts are those that a provider sends."""
    page = (ROOT / "site" / "five-errors.md").read_text()
    rows = re.findall(r"^\| `(.*?)` \|.*/pages/(\w+)\.md\)", page, re.MULTILINE)
    assert len(rows) == 5
    for error, fault in rows:
        text = (ROOT / build.FAULTS / f"{fault}.md").read_text()
        pattern = re.escape(error).replace("…", "[^' ]+")
        assert re.search(pattern, text), (error, fault)


def test_it_can_be_searched(site: Path) -> None:
    [index] = site.glob("searchindex-*.js")
    assert "terminationGracePeriodSeconds" in index.read_text()
