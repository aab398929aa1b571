"""Measure the built-in model on modules from PyPI: `python -m bench.builtin`.

Each module is laid out as a repository without tests; `testforge generate` writes a suite and `testforge score`
measures it, line and branch coverage and mutation score by the tests that pass. With `--pynguin`, Pynguin searches
beside it and is scored the same way. The projects' own suites and earlier numbers of Pynguin stand beside as reference.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from bench.peers import pynguin_tests
from bench.subjects import SUBJECTS, Subject, dependencies, lay_out

SEARCH_S = 60


@dataclass(frozen=True, slots=True)
class Row:
    """A suite's measures: fractions 0..1, seconds; None is what could not be measured.

    Attributes:
        seconds: What making the suite took.
        runs, flaky: Runs in random order, and the tests that did not pass in each of them.
    """

    module: str
    tool: str
    tests: int = 0
    lines: float | None = None
    branches: float | None = None
    mutation: float | None = None
    pass_at_1: bool = False
    hollow: int = 0
    seconds: float = 0.0
    runs: int = 0
    flaky: tuple[str, ...] = field(default=())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; the exit code is 1 if a suite is missing or a kept test is flaky."""
    options = _options(arguments)
    work = options.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    chosen = [s for s in SUBJECTS if not options.modules or {s.name, s.path, s.module} & set(options.modules)]
    rows: list[Row] = []
    for subject in chosen:
        root = lay_out(subject, work)
        rows.append(_testforge(subject, root, options))
        _tell(rows[-1])
        if options.pynguin:
            rows.append(_pynguin(subject, root, work, options))
            _tell(rows[-1])
    text = table(rows, chosen)
    sys.stdout.write(f"{text}\n")
    if options.out:
        data = json.dumps([asdict(row) for row in rows], indent=2)
        options.out.write_text((data if options.out.suffix == ".json" else text) + "\n", encoding="utf-8")
    return int(any(row.tool == "testforge" and (not row.pass_at_1 or row.flaky) for row in rows))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.builtin", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument(
        "--modules", nargs="+", metavar="NAME", help="only these: a distribution, a path or a module"
    )
    parser.add_argument("--pynguin", action="store_true", help="run Pynguin beside it")
    parser.add_argument(
        "--stability", type=int, default=0, metavar="N", help="run each suite N times in random order"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--max-mutants", type=int, default=None, metavar="N", help="score a sample of the mutants"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="write the table, or the rows if FILE ends in .json"
    )
    parser.add_argument(
        "--work", type=Path, default=Path(".bench"), metavar="DIR", help="downloads and repositories"
    )
    return parser.parse_args(arguments)


def _testforge(subject: Subject, root: Path, options: argparse.Namespace) -> Row:
    """Generate, score and, if asked for, run in random order."""
    report = root.parent / f"{subject.name}.report.json"
    report.unlink(missing_ok=True)
    started = time.monotonic()
    _command(["generate", subject.path, "--apply", "--json", str(report), "--seed", str(options.seed)], root)
    seconds = time.monotonic() - started
    target = _read(report).get("targets", [{}])[0]
    suite = target.get("suite")
    if not suite:
        return Row(subject.path, "testforge", seconds=seconds)
    row = _score(subject, root, root / suite["path"], "testforge", seconds, options)
    return _with_stability(row, root, suite["path"], options.stability)


def _pynguin(subject: Subject, root: Path, work: Path, options: argparse.Namespace) -> Row:
    started = time.monotonic()
    found = pynguin_tests(subject, root, work, search_s=SEARCH_S, seed=options.seed)
    seconds = time.monotonic() - started
    if found is None:
        return Row(subject.path, "pynguin", seconds=seconds)
    suite = root / "tests" / "test_pynguin.py"
    suite.parent.mkdir(exist_ok=True)
    shutil.copyfile(found, suite)
    return _score(subject, root, suite, "pynguin", seconds, options)


def _score(
    subject: Subject, root: Path, suite: Path, tool: str, seconds: float, options: argparse.Namespace
) -> Row:
    report = root.parent / f"{subject.name}.{tool}.score.json"
    report.unlink(missing_ok=True)
    sample = ["--max-mutants", str(options.max_mutants)] if options.max_mutants else []
    _command(["score", subject.path, str(suite.relative_to(root)), "--json", str(report), *sample], root)
    found = _read(report)
    if not found:
        return Row(subject.path, tool, seconds=seconds)
    mutation = found["mutation"] or {}
    return Row(
        subject.path,
        tool,
        found["outcomes"]["passed"],
        found["coverage"]["lines"],
        found["coverage"]["branches"],
        mutation.get("score"),
        found["pass_at_1"],
        len(found["hollow"]),
        seconds,
    )


def _with_stability(row: Row, root: Path, suite: str, runs: int) -> Row:
    """Run a suite again and again, each time in another order, and note what did not always pass."""
    if not runs:
        return row
    flaky: set[str] = set()
    ids = _collected(root, suite)
    for run in range(runs):
        order = list(ids)
        random.Random(run).shuffle(order)
        done = _pytest(root, ["-q", "-rfE", *order])
        flaky.update(
            line.split(" ")[1] for line in done.splitlines() if line.startswith(("FAILED ", "ERROR "))
        )
    values = {**asdict(row), "runs": runs, "flaky": tuple(sorted(flaky))}
    return Row(**values)


def _collected(root: Path, suite: str) -> list[str]:
    listed = _pytest(root, ["--collect-only", "-q", suite])
    return sorted({line.partition("[")[0] for line in listed.splitlines() if "::" in line})


def _pytest(root: Path, arguments: Sequence[str]) -> str:
    """Return what pytest prints. Raises RuntimeError if it could not run."""
    needs = [part for name in ("pytest", *dependencies(root)) for part in ("--with", name)]
    command = [
        str(Path(sys.executable).parent / "uv"),
        "run",
        "-q",
        "--no-project",
        *needs,
        "python",
        "-m",
        "pytest",
    ]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", *arguments],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1):
        raise RuntimeError(f"pytest could not run in {root}: {done.stdout[-500:]}{done.stderr[-500:]}")
    return done.stdout


def _command(arguments: Sequence[str], root: Path) -> None:
    """Run testforge, whose progress goes to the terminal and whose report goes to a file."""
    testforge = Path(sys.executable).parent / "testforge"
    subprocess.run([str(testforge), *arguments], cwd=root, stdout=subprocess.DEVNULL, check=False)


def _read(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def _tell(row: Row) -> None:
    sys.stderr.write(
        f"{row.tool} {row.module}: {_percent(row.lines)} lines, {_percent(row.mutation)} mutants\n"
    )


def table(rows: Sequence[Row], subjects: Sequence[Subject]) -> str:
    """Return the results as a Markdown table, with means and the reference numbers."""
    lines = [
        "| module | tool | tests | lines | branches | mutation | pass@1 | hollow | seconds | flaky | own suite |",
        "|---|---|--:|--:|--:|--:|---|--:|--:|--:|--:|",
    ]
    reference = {subject.path: subject for subject in subjects}
    for row in rows:
        known = reference[row.module]
        own = f"{known.own[0]}/{known.own[1]}"
        flaky = f"{len(row.flaky)} in {row.runs}" if row.runs else ""
        lines.append(
            f"| {row.module} | {row.tool} | {row.tests} | {_percent(row.lines)} | {_percent(row.branches)} "
            f"| {_percent(row.mutation)} | {'yes' if row.pass_at_1 else 'no'} | {row.hollow} | {row.seconds:.0f} "
            f"| {flaky} | {own} |"
        )
    for tool in sorted({row.tool for row in rows}):
        mine = [row for row in rows if row.tool == tool]
        means = [
            _percent(_mean([getattr(row, name) for row in mine]))
            for name in ("lines", "branches", "mutation")
        ]
        passed = f"{sum(row.pass_at_1 for row in mine)} of {len(mine)}"
        seconds = sum(row.seconds for row in mine) / len(mine)
        lines.append(f"| **mean** | {tool} | | {' | '.join(means)} | {passed} | | {seconds:.0f} | | |")
    earlier = ", ".join(f"{s.module} {s.pynguin[0]}/{s.pynguin[1]}" for s in subjects)
    return "\n".join(
        [*lines, "", f"Pynguin 0.48, measured earlier on a loaded machine, lines/mutants: {earlier}."]
    )


def _mean(values: Sequence[float | None]) -> float:
    """Return the mean; a suite that is missing counts as 0."""
    return sum(value or 0.0 for value in values) / len(values)


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.0f}"


if __name__ == "__main__":
    sys.exit(main())
