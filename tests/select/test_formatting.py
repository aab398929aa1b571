"""The repository's formatter and linter settings are applied to what is added, and to nothing else."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from bot.select.formatting import tidy, tidy_addition
from bot.select.style import Style, style_of

RAW = """import os
from pkg.mod import parse
import pytest
def test_a():
    assert parse('x', first_argument_with_a_name=1, second_argument_with_a_name=2, third=3) == "y"
"""


def style(files: Mapping[str, str], near: tuple[str, ...] = ()) -> Style:
    return style_of([*files, "pkg/mod.py"], files.__getitem__, "tests/test_mod.py", near=near)


def laid_out(files: Mapping[str, str], source: str = RAW, near: tuple[str, ...] = ()) -> str:
    return tidy(source, style(files, near), "tests/test_mod.py")


def test_ruffs_line_length_and_quotes_are_kept() -> None:
    content = laid_out(
        {"pyproject.toml": '[tool.ruff]\nline-length = 120\n[tool.ruff.format]\nquote-style = "single"\n'}
    )
    assert (
        "    assert parse('x', first_argument_with_a_name=1, second_argument_with_a_name=2, third=3) == 'y'\n"
        in content
    )


def test_black_alone_gives_its_own_line_length_and_double_quotes() -> None:
    content = laid_out({"pyproject.toml": "[tool.black]\nline-length = 40\n"})
    assert 'parse(\n            "x",\n' in content


def test_black_without_string_normalisation_leaves_quotes_alone() -> None:
    content = laid_out(
        {"pyproject.toml": "[tool.black]\nline-length = 120\nskip-string-normalization = true\n"}
    )
    assert "parse('x'," in content
    assert '== "y"' in content


def test_unused_imports_go_and_imports_are_sorted_where_ruff_is_told_to() -> None:
    content = laid_out({"ruff.toml": 'line-length = 120\n[lint]\nselect = ["F", "I"]\n'})
    assert content.startswith("import pytest\n\nfrom pkg.mod import parse\n") or content.startswith(
        "from pkg.mod import parse\n"
    )
    assert "import os" not in content


def test_isorts_settings_from_an_ini_file_are_used() -> None:
    files = {"setup.cfg": "[isort]\nforce_single_line = true\n[flake8]\nmax-line-length = 100\n"}
    content = laid_out(files, "from pkg.mod import emit, parse\n\n\ndef test_a():\n    assert emit(parse)\n")
    assert content.startswith("from pkg.mod import emit\nfrom pkg.mod import parse\n")


def test_flake8s_line_length_is_kept_without_any_formatter() -> None:
    assert style({"tox.ini": "[flake8]\nmax-line-length = 70\n"}).line_length == 70


def test_neighbours_decide_on_quotes_where_nothing_is_configured() -> None:
    assert "parse('x'," in laid_out({}, near=("a = 'b'\nc = ['d', 'e']\n",))


def test_return_annotations_are_added_where_the_repository_asks_for_them() -> None:
    assert "def test_a() -> None:" in laid_out({"ruff.toml": 'lint.select = ["ANN"]\n'})


def test_per_file_ignores_are_honoured() -> None:
    files = {
        "ruff.toml": 'lint.select = ["ANN", "F"]\nlint.per-file-ignores = {"tests/*" = ["ANN", "F401"]}\n'
    }
    content = laid_out(files)
    assert "def test_a():" in content
    assert "import os" in content


def test_a_setting_that_is_not_understood_does_not_cost_the_suite() -> None:
    content = laid_out({"ruff.toml": 'lint.select = ["XYZ123", "F"]\nline-length = 120\n'})
    assert "import os" not in content
    assert "def test_a" in content


def test_a_broken_configuration_is_passed_over() -> None:
    assert "def test_a" in laid_out({"pyproject.toml": "[tool.ruff\n"})


def test_extended_settings_are_followed() -> None:
    files = {
        "pyproject.toml": "[tool.ruff]\nline-length = 120\n",
        "tests/ruff.toml": 'extend = "../pyproject.toml"\n',
    }
    assert style(files).line_length == 120


def test_an_extended_file_that_was_formatted_stays_formatted() -> None:
    settings = style({"ruff.toml": "line-length = 100\n"})
    original = "def test_a():\n    assert True\n"
    extended = original + "\n\n\n\n\ndef test_b( ):\n  assert  True\n"
    content = tidy_addition(original, extended, settings, "tests/test_mod.py")
    assert content == original + "\n\ndef test_b():\n    assert True\n"


def test_an_extended_file_that_was_not_formatted_is_left_as_it_is() -> None:
    settings = style({"ruff.toml": "line-length = 100\n"})
    original = "def test_a( ):\n    assert  True\n"
    extended = original + "\n\ndef test_b():\n    assert True\n"
    assert tidy_addition(original, extended, settings, "tests/test_mod.py") == extended


@pytest.mark.parametrize("path", ["setup.cfg", "tox.ini", ".flake8"])
def test_every_place_for_flake8_is_read(path: str) -> None:
    assert style({path: "[flake8]\nmax_line_length = 101\n"}).line_length == 101
