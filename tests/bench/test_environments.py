"""The bench of environments: what its table says of a project."""

from __future__ import annotations

import re
import tarfile
from pathlib import Path

from bench import environments
from bench.environments import PROJECTS, Project, Result


def test_there_are_twenty_projects_each_of_one_version() -> None:
    assert len({project.name for project in PROJECTS}) == len(PROJECTS) >= 20
    assert all(re.fullmatch(r"[\w.-]+==[\d.]+", project.requirement) for project in PROJECTS)


def test_red_tests_are_told_with_their_cause_and_what_is_known_of_it() -> None:
    red = Result(
        "a==1", "hatchling.build", outcomes={"passed": 3, "failed": 1, "error": 1}, cause="2 times KeyError"
    )
    green = Result("b==1", "flit_core.buildapi", outcomes={"passed": 1, "xfailed": 2, "skipped": 1})

    table = environments._table([red, green], {"a==1": "its lock is old", "b==1": "not told"})

    assert (
        "| a==1 | hatchling.build |  | 3 | 2 | 0 | 0.0 | 0.00 | 0.0 | 2 times KeyError; its lock is old |"
        in table
    )
    assert "| b==1 | flit_core.buildapi |  | 1 | 0 | 3 | 0.0 | 0.00 | 0.0 |  |" in table
    assert "1 of 2 projects, of 2 build backends, are green." in table


def test_an_sdist_becomes_a_repository_with_all_its_files(tmp_path: Path) -> None:
    source = tmp_path / "own-1.0"
    source.mkdir()
    (source / ".gitignore").write_text("*.txt\n")
    (source / "kept.txt").write_text("x")
    (tmp_path / "sdists" / "own").mkdir(parents=True)
    with tarfile.open(tmp_path / "sdists" / "own" / "own-1.0.tar.gz", "w:gz") as archive:
        archive.add(source, "own-1.0")

    root = environments._lay_out(Project("own==1.0"), tmp_path)

    assert sorted(path.name for path in root.iterdir()) == [".git", ".gitignore", "kept.txt"]
