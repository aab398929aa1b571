"""The documentation's pictures: each is of a page, and the script that took it still can."""

from __future__ import annotations

import importlib.util
import re
import shutil
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "screenshots.py"
IMAGES = {path.name for path in (ROOT / "docs" / "images").iterdir()}
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture
def screenshots(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The script, with a place of its own for pictures."""
    spec = importlib.util.spec_from_file_location("screenshots", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "IMAGES", tmp_path)
    return module


def test_each_picture_is_shown_and_each_has_its_line_in_the_script() -> None:
    pages = "".join(path.read_text("utf-8") for path in (ROOT / "docs").glob("*.md"))

    assert set(re.findall(r"\(images/([\w.]+)\)", pages)) == IMAGES
    assert set(re.findall(r"^docs/images/([\w.]+) ", SCRIPT.read_text("utf-8"), re.MULTILINE)) == IMAGES


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium on this machine")
@pytest.mark.slow
def test_a_picture_of_the_setup_page_is_taken_from_a_real_server(
    screenshots: ModuleType, tmp_path: Path
) -> None:
    with screenshots.serving(tmp_path / "data") as address:
        screenshots.shoot(BROWSER, tmp_path, "setup", address, 960)

    assert _size(tmp_path / "setup.png") == _size(ROOT / "docs/images/setup.png")


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium on this machine")
@pytest.mark.slow
def test_a_picture_is_as_high_as_what_it_shows(screenshots: ModuleType, tmp_path: Path) -> None:
    for name, lines in {"short": 3, "long": 60}.items():
        page = screenshots.document(screenshots.TERMINAL, "<pre>" + "line\n" * lines + "</pre>")
        screenshots.shoot(BROWSER, tmp_path, name, page, 640)

    assert _size(tmp_path / "short.png")[1] < 300 < 1000 < _size(tmp_path / "long.png")[1]


def _size(picture: Path) -> tuple[int, int]:
    """Return a PNG's width and height."""
    head = picture.read_bytes()[:24]
    assert head.startswith(b"\x89PNG")
    return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")
