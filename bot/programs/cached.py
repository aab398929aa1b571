"""Problems, candidates and tests as JSON lines, plain or gzipped: what `testforge rank` and the benchmarks read.

problems    task_id, entry_point, prompt, reference (a whole program), hidden_test (defines check(candidate)) or
            hidden_tests (assert statements) with test_imports
candidates  task_id, codes (distinct), kind ("completion": a program is the prompt and the code; else the code is one),
            order (for sample k the index into codes; without it each code is one sample)
tests       task_id, asserts (distinct, raw), samples (for each generation, indices into asserts: one unit test)
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.errors import UsageError

_LONGEST_LINE = 64 * 1024**2


@dataclass(frozen=True, slots=True)
class Task:
    """A function to be written.

    Attributes:
        name: The task's id.
        function: The name of the function.
        prompt: The text that the candidates of kind "completion" continue.
        reference: A whole program that is right; empty if there is none.
        check: Text that defines `check(candidate)`, which raises for a wrong function; empty if there is none.
    """

    name: str
    function: str
    prompt: str = ""
    reference: str = ""
    check: str = ""


@dataclass(frozen=True, slots=True)
class Candidates:
    """Programs for one task. `weights` counts how many samples gave each."""

    programs: tuple[str, ...]
    weights: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tests:
    """Assertions for one task as a model wrote them; `samples` are its unit tests, as indices into `asserts`."""

    __test__ = False

    asserts: tuple[str, ...]
    samples: tuple[tuple[int, ...], ...]


def read_tasks(path: Path) -> dict[str, Task]:
    """Return the tasks of a file by their id. Raises UsageError, with the line, for what is not in the format."""
    tasks = {}
    for row in _rows(path, "task_id", "entry_point"):
        for key in ("test_imports", "hidden_tests"):
            _are_texts(path, row["task_id"], key, row.get(key) or [])
        tasks[row["task_id"]] = _task(row)
    return tasks


def read_candidates(path: Path, tasks: Mapping[str, Task]) -> dict[str, Candidates]:
    """Return the candidates of a file by their task. Raises UsageError for what is not in the format."""
    found = {}
    for row in _rows(path, "task_id", "codes"):
        name, codes = row["task_id"], row["codes"]
        _are_texts(path, name, "codes", codes)
        order = row.get("order") or list(range(len(codes)))
        if not isinstance(order, list) or any(
            not isinstance(one, int) or not 0 <= one < len(codes) for one in order
        ):
            raise UsageError(f"{path}: `order` of {name!r} holds something that is no index into `codes`.")
        start = tasks[name].prompt if row.get("kind") == "completion" and name in tasks else ""
        found[name] = Candidates(
            tuple(start + code for code in codes), tuple(order.count(index) for index in range(len(codes)))
        )
    return found


def read_tests(path: Path) -> dict[str, Tests]:
    """Return the tests of a file by their task. Raises UsageError for what is not in the format."""
    found = {}
    for row in _rows(path, "task_id", "asserts"):
        _are_texts(path, row["task_id"], "asserts", row["asserts"])
        asserts = tuple(row["asserts"])
        samples = row.get("samples")
        if samples is None:
            samples = [[index] for index in range(len(asserts))]
        if not isinstance(samples, list) or any(
            not isinstance(sample, list)
            or any(not isinstance(i, int) or not 0 <= i < len(asserts) for i in sample)
            for sample in samples
        ):
            raise UsageError(f"{path}: `samples` of {row['task_id']!r} holds no index into `asserts`.")
        found[row["task_id"]] = Tests(asserts, tuple(map(tuple, samples)))
    return found


def _are_texts(path: Path, name: str, key: str, value: object) -> None:
    """Raise UsageError unless a value is a list of strings."""
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise UsageError(f"{path}: `{key}` of {name!r} is no list of strings.")


def _task(row: Mapping[str, Any]) -> Task:
    check = str(row.get("hidden_test") or "")
    if not check and row.get("hidden_tests"):
        body = "\n".join([*(row.get("test_imports") or ()), *row["hidden_tests"]])
        indented = "\n".join(f"    {line}" for line in body.splitlines())
        # These tests call the function by its own name, so that it is not what `check` is given that they test.
        check = f"def check(candidate):\n{indented}\n"
    return Task(
        row["task_id"],
        str(row["entry_point"]),
        str(row.get("prompt", "")),
        str(row.get("reference", "")),
        check,
    )


def _rows(path: Path, *needed: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file of JSON lines."""
    opener = gzip.open if path.suffix == ".gz" else open
    number = 0
    try:
        with opener(path, "rt", encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                if len(line) > _LONGEST_LINE:
                    raise UsageError(f"{path}, line {number}: longer than 64 MB.")
                row = json.loads(line)
                missing = [key for key in needed if not isinstance(row, dict) or key not in row]
                if missing:
                    raise UsageError(f"{path}, line {number}: there is no `{missing[0]}`.")
                yield {**row, "task_id": str(row["task_id"])}
    except json.JSONDecodeError as error:
        raise UsageError(f"{path}, line {number}: this is not JSON: {error.msg}.") from None
    except RecursionError:
        raise UsageError(f"{path}, line {number}: nested too deeply.") from None
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise UsageError(f"{path} cannot be read: {error}.") from None
