"""The benchmark lays modules out as repositories and tells what was measured."""

import subprocess
import zipfile
from pathlib import Path

import pytest

rows = pytest.importorskip("bench.rows", reason="the benchmark is not part of the installed package")
subjects = pytest.importorskip("bench.subjects")

PAINT = subjects.Subject("paint", "paint/colours.py", (10, 5), (90, 80))
SINGLE = subjects.Subject("paint", "paint/__init__.py", (10, 5), (90, 80))


def wheel(work: Path, files: dict[str, str]) -> None:
    """Put a wheel where the download would be."""
    metadata = (
        "Metadata-Version: 2.1\nName: paint\nRequires-Dist: brush (>=2)\nRequires-Dist: oil; extra == 'x'\n"
    )
    (work / "wheels").mkdir()
    with zipfile.ZipFile(work / "wheels" / "paint-1.0-py3-none-any.whl", "w") as archive:
        for name, text in {**files, "paint-1.0.dist-info/METADATA": metadata}.items():
            archive.writestr(name, text)


def committed(root: Path) -> list[str]:
    done = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_a_distribution_becomes_a_committed_repository_without_tests(tmp_path: Path) -> None:
    wheel(
        tmp_path,
        {"paint/__init__.py": "", "paint/colours.py": "RED = 1\n", "paint/tests/test_colours.py": ""},
    )
    root = subjects.lay_out(PAINT, tmp_path)
    assert committed(root) == ["paint/__init__.py", "paint/colours.py", "pyproject.toml"]


def test_what_it_needs_to_run_is_declared_and_its_extras_are_not(tmp_path: Path) -> None:
    wheel(tmp_path, {"paint/colours.py": "RED = 1\n"})
    text = (subjects.lay_out(PAINT, tmp_path) / "pyproject.toml").read_text()
    assert '"brush (>=2)"' in text
    assert "oil" not in text


def test_a_single_module_is_laid_out_as_the_package_that_the_subject_names(tmp_path: Path) -> None:
    wheel(tmp_path, {"paint.py": "RED = 1\n"})
    assert committed(subjects.lay_out(SINGLE, tmp_path)) == ["paint/__init__.py", "pyproject.toml"]


def test_laying_out_twice_begins_anew(tmp_path: Path) -> None:
    wheel(tmp_path, {"paint/colours.py": "RED = 1\n"})
    (subjects.lay_out(PAINT, tmp_path) / "left.txt").write_text("")
    assert not (subjects.lay_out(PAINT, tmp_path) / "left.txt").exists()


def test_the_table_has_a_row_for_each_suite_and_means_in_which_a_missing_one_counts_as_nothing() -> None:
    two = [
        rows.Row("paint/colours.py", "testforge", 3, 0.9, 0.8, 0.7, True, 0, 12.0, runs=5, flaky=("t::a",)),
        rows.Row("paint/colours.py", "testforge", seconds=8.0),
    ]
    lines = rows.table(two, [PAINT]).splitlines()
    assert (
        lines[2] == "| paint/colours.py | testforge | 3 | 90 | 80 | 70 | yes | 0 | 12 | 1 in 5 |  | 90/80 |"
    )
    assert lines[3] == "| paint/colours.py | testforge | 0 | - | - | - | no | 0 | 8 |  |  | 90/80 |"
    assert lines[4] == "| **mean** | testforge | | 45 | 40 | 35 | 1 of 2 | | 10 | | | |"


def test_a_row_that_was_kept_is_there_again(tmp_path: Path) -> None:
    row = rows.Row("paint/colours.py", "testforge", 3, 0.9, flaky=("t::a",), again=True)
    assert rows.load(tmp_path / "paint.json") is None
    rows.keep(row, tmp_path / "paint.json")
    assert rows.load(tmp_path / "paint.json") == row


def test_a_package_is_imported_by_its_own_name() -> None:
    assert {subject.module for subject in subjects.SUBJECTS} >= {
        "slugify.slugify",
        "inflection",
        "cachetools",
    }
