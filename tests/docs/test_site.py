"""The documentation's site: it builds strictly, leads nowhere wrong, and asks no other site for anything."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[2]
MKDOCS = Path(sys.executable).with_name("mkdocs")
FETCHED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}


class Page(HTMLParser):
    """What a page of the site links to, what it loads, and where it can be entered."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.unnamed_images: list[str] = []
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note one element."""
        given = {name: value or "" for name, value in attrs}
        self.anchors.add(given.get("id", ""))
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        if tag in FETCHED and given.get("rel") not in ("canonical", "prev", "next"):
            self.loaded.append(given.get(FETCHED[tag], ""))
        if tag == "img" and not given.get("alt"):
            self.unnamed_images.append(given.get("src", ""))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("site")
    done = _build(ROOT / "mkdocs.yml", place)
    assert done.returncode == 0, done.stdout + done.stderr
    return place


@pytest.fixture(scope="module")
def pages(site: Path) -> list[Page]:
    return [Page(path) for path in sorted(site.rglob("*.html")) if path.name != "404.html"]


def test_every_page_is_in_the_site(site: Path) -> None:
    sources = {path.relative_to(ROOT / "docs").with_suffix("") for path in (ROOT / "docs").rglob("*.md")}
    built = {path.parent.relative_to(site) for path in site.rglob("index.html")}

    assert {Path() if str(source) == "index" else source for source in sources} <= built


def test_links_and_anchors_within_the_site_lead_somewhere(site: Path, pages: list[Page]) -> None:
    anchors = {page.path: page.anchors for page in pages}

    assert [
        (str(page.path.relative_to(site)), link)
        for page, link, target, anchor in _inner(site, pages)
        if not target.exists() or (anchor and anchor not in anchors.get(target, ()))
    ] == []


def test_links_to_other_sites_are_whole_addresses(pages: list[Page]) -> None:
    outer = {link for page in pages for link in page.links if urlsplit(link).scheme}

    assert outer
    assert [link for link in sorted(outer) if not _is_well_formed(link)] == []


def test_links_to_files_of_the_repository_name_files_that_are_there(pages: list[Page]) -> None:
    base = "https://github.com/testforge/testforge/blob/main/"
    named = {link.removeprefix(base) for page in pages for link in page.links if link.startswith(base)}

    assert named
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_reading_a_page_asks_nobody_else(site: Path, pages: list[Page]) -> None:
    assert [address for page in pages for address in page.loaded if urlsplit(address).netloc] == []
    styles = "".join(path.read_text("utf-8") for path in site.rglob("*.css"))
    assert "url(http" not in styles
    assert "fonts.g" not in styles


def test_every_picture_has_a_text_in_its_place(pages: list[Page]) -> None:
    assert [image for page in pages for image in page.unnamed_images] == []


def test_a_link_that_leads_nowhere_fails_the_build(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "index.md").write_text("# A\n\n[gone](../gone.md) [and](index.md#gone)\n")
    wanted = (ROOT / "mkdocs.yml").read_text("utf-8").partition("nav:")[0]
    (tmp_path / "mkdocs.yml").write_text(
        wanted.replace("scripts/site_links.py", str(ROOT / "scripts/site_links.py"))
    )
    done = _build(tmp_path / "mkdocs.yml", tmp_path / "site")

    assert done.returncode != 0
    assert "Aborted with 2 warnings" in done.stdout + done.stderr


def _inner(site: Path, pages: list[Page]) -> Iterator[tuple[Page, str, Path, str]]:
    """Yield each link within the site with the file and the anchor that it leads to."""
    for page in pages:
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            place = (page.path.parent / unquote(parts.path)).resolve() if parts.path else page.path
            yield page, link, place / "index.html" if place.is_dir() else place, unquote(parts.fragment)


def _is_well_formed(link: str) -> bool:
    """Tell whether a link is an address as people use them; nothing is asked of it."""
    parts = urlsplit(link)
    return parts.scheme == "https" and "." in parts.netloc and " " not in link and link.isascii()


def _build(configuration: Path, place: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [MKDOCS, "build", "--config-file", configuration, "--site-dir", place],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=240,
    )
