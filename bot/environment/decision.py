"""Which of a repository's files decides what is installed, and why: decided once, for virtual environments and images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.environment import requirement_files
from bot.environment.declared import PROJECT_FILES, Declared


@dataclass(frozen=True, slots=True)
class Decision:
    """What is installed, in the order of the fields.

    Attributes:
        lock: The lock file whose versions are taken; what follows serves where it cannot be.
        requirements: Requirements files for the code.
        dependencies: Requirements of the code, where there is no project to install; also conda's pip part.
        test_requirements: Requirements files for tests.
        test_lines: Requirements of tests.
        files: All files that have a part in this, relative to the tree, sorted: the environment's key is made of them.
        because: A sentence for a person: what decides, and why.
        notes: Sentences on what of the files is not installed.
    """

    lock: str
    requirements: tuple[str, ...]
    dependencies: tuple[str, ...]
    test_requirements: tuple[str, ...]
    test_lines: tuple[str, ...]
    files: tuple[str, ...]
    because: str
    notes: tuple[str, ...] = ()


def decide(tree: Path, wanted: Declared) -> Decision:
    """Return what decides: a lock file; else what the project and requirements files declare; else conda's file.

    tox.ini is asked what tests need where nothing else says.
    """
    for_tests = bool(
        wanted.test_lines or wanted.extra_lines or wanted.group_lines or wanted.test_requirements
    )
    tox_file, tox_lines = wanted.tox if not (for_tests or wanted.lock) else ("", ())
    declares = bool(wanted.is_project or wanted.dependencies or wanted.requirements or wanted.lock)
    conda = wanted.conda if wanted.conda.file and not declares else None
    used = [*(() if wanted.lock else wanted.requirements), *wanted.test_requirements]
    single = {wanted.lock, tox_file, conda.file if conda else ""} - {""}
    files = {*wanted.files, *requirement_files.closure(tree, used), *single}
    return Decision(
        lock=wanted.lock,
        requirements=wanted.requirements,
        dependencies=(*wanted.dependencies, *(conda.pip if conda else ())),
        test_requirements=wanted.test_requirements,
        test_lines=(*wanted.test_lines, *tox_lines),
        files=tuple(sorted(files)),
        because=_because(tree, wanted, conda.file if conda else "", tox_file),
        notes=_not_installed(conda.file, conda.others) if conda and conda.others else (),
    )


def _because(tree: Path, wanted: Declared, conda: str, tox: str) -> str:
    tests = _for_tests(wanted, tox)
    if wanted.lock:
        more = (
            f"; for the tests also {' and '.join(wanted.test_requirements)}"
            if wanted.test_requirements
            else ""
        )
        return f"The dependencies are the versions in {wanted.lock}, since a lock file decides{more}."
    if wanted.is_project:
        sources = [_project_file(tree, wanted), *wanted.requirements]
        return f"The dependencies are those of {' and '.join(sources)}{tests}; there is no lock file."
    if wanted.requirements:
        return f"The dependencies are those of {' and '.join(wanted.requirements)}{tests}; there is no project to install."
    if wanted.dependencies:
        return f"The dependencies are those of {_project_file(tree, wanted)}{tests}."
    if conda:
        return f"The dependencies are those of the pip part of {conda}{tests}; no other file names any."
    if tests:
        return f"The dependencies are those of the tests{tests}; the code names none."
    return "No file names dependencies, so there is pytest and coverage alone."


def _for_tests(wanted: Declared, tox: str) -> str:
    """Return what is installed for the tests, to be put after what is installed for the code."""
    extras = [name for name in wanted.test_extras if wanted.extras[name]]
    named: list[str] = []
    if extras:
        named.append(f"the extra{'s' if len(extras) > 1 else ''} {' and '.join(extras)}")
    if wanted.groups:
        named.append(f"the group{'s' if len(wanted.groups) > 1 else ''} {' and '.join(wanted.groups)}")
    if wanted.test_lines:
        named.append("the development dependencies of its tools")
    named += wanted.test_requirements
    if tox:
        named.append(f"the `deps` of {tox}")
    return f", for the tests with {', '.join(named)}" if named else ""


def _project_file(tree: Path, wanted: Declared) -> str:
    """Return the file in which the project declares itself, and what builds it."""
    names = ("Pipfile", *PROJECT_FILES) if not wanted.is_project else PROJECT_FILES
    there = [name for name in names if (tree / name).is_file()]
    if "pyproject.toml" in there and not wanted.backend and len(there) > 1:
        there.remove("pyproject.toml")  # the settings of other tools, mostly
    return f"{there[0]} ({wanted.backend})" if wanted.backend and there[0] == "pyproject.toml" else there[0]


def _not_installed(file: str, names: Sequence[str]) -> tuple[str, ...]:
    shown = f"{', '.join(names[:8])}{' and more' if len(names) > 8 else ''}"
    return (
        f"{file} also names {shown}, which only conda installs, so only its pip part is here. Name what the tests need in a "
        "requirements file, or install it with `environment.setup` in .github/testforge.yml.",
    )
