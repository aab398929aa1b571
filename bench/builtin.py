"""Measure the built-in model on modules from PyPI.

    python -m bench.builtin --all            everything: suites, scores, 20 random orders each, the same again?
    python -m bench.builtin --all --resume   goes on where it was stopped; what is measured already stays
    python -m bench.builtin                  suites and scores only
    python -m bench.builtin --pynguin        Pynguin beside it (60 s of search a module, in an environment of its own)

Each module is laid out as a repository without tests; `testforge generate` writes a suite and `testforge score`
measures it: line and branch coverage and the mutation score, by the tests that pass. `seconds` is the wall time of
`generate` with the environment installed before. Results are kept below `--work`, a file for
each module and tool, so that a run that was stopped can go on. The projects' own suites and earlier numbers of Pynguin
stand beside as reference. The exit code is 1 if a suite is missing, a kept test is flaky or a second run differs.
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
from dataclasses import asdict, replace
from pathlib import Path

from bench.peers import pynguin_tests
from bench.rows import Row, keep, load, table, told
from bench.subjects import SUBJECTS, Subject, dependencies, lay_out

SEARCH_S = 60
STABILITY_RUNS = 20


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; see the module for its exit code."""
    options = _options(arguments)
    options.work = options.work.resolve()
    options.work.mkdir(parents=True, exist_ok=True)
    chosen = [s for s in SUBJECTS if not options.modules or {s.name, s.path, s.module} & set(options.modules)]
    tools = ["testforge"] * (not options.only_pynguin)
    tools += ["pynguin"] * (options.pynguin or options.only_pynguin)
    rows: list[Row] = []
    for subject in chosen:
        for tool in tools:
            rows.append(_measured(subject, tool, options))
            sys.stderr.write(f"{told(rows[-1])}\n")
    text = table(rows, chosen)
    sys.stdout.write(f"{text}\n")
    if options.out:
        data = json.dumps([asdict(row) for row in rows], indent=2)
        options.out.write_text((data if options.out.suffix == ".json" else text) + "\n", encoding="utf-8")
    bad = [row for row in rows if not row.pass_at_1 or row.flaky or row.again is False]
    return int(any(row.tool == "testforge" for row in bad))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.builtin", description=(__doc__ or "").partition("\n")[0]
    )
    add = parser.add_argument
    add("--modules", nargs="+", metavar="NAME", help="only these: a distribution, a path or a module")
    add("--all", action="store_true", help=f"the same as --stability {STABILITY_RUNS} --again")
    add("--stability", type=int, default=0, metavar="N", help="run each suite N times in random order")
    add("--again", action="store_true", help="generate each suite a second time and compare the bytes")
    add("--resume", action="store_true", help="keep what an earlier run with the same --work has measured")
    add("--pynguin", action="store_true", help="run Pynguin beside it")
    add("--only-pynguin", action="store_true", help="run Pynguin alone")
    add("--sandbox", default="process", help="of testforge (default: process)")
    add("--seed", type=int, default=0)
    add("--max-mutants", type=int, default=None, metavar="N", help="score a sample of the mutants")
    add("--out", type=Path, metavar="FILE", help="write the table, or the rows if FILE ends in .json")
    add("--work", type=Path, default=Path(".bench"), metavar="DIR", help="downloads, repositories, results")
    options = parser.parse_args(arguments)
    if options.all:
        options.stability, options.again = max(options.stability, STABILITY_RUNS), True
    return options


def _measured(subject: Subject, tool: str, options: argparse.Namespace) -> Row:
    """Return a suite's measures: those that were kept if asked for, and those that are still missing."""
    file = options.work / "rows" / f"{subject.name}.{tool}.json"
    root = options.work / "repositories" / subject.name
    row = load(file) if options.resume else None
    if row is None or row.mutation is None or not (root / row.suite).is_file():
        root = lay_out(subject, options.work)
        make = _testforge if tool == "testforge" else _pynguin
        row = keep(make(subject, root, options), file)
    if not row.suite or tool != "testforge":
        return row
    if row.runs < options.stability:
        row = keep(_with_stability(row, root, options.stability), file)
    if options.again and row.again is None:
        row = keep(replace(row, again=_same_again(subject, row, root, options)), file)
    return row


def _testforge(subject: Subject, root: Path, options: argparse.Namespace) -> Row:
    """Generate a suite and score it."""
    _install(subject, root, options)
    report = root.parent / f"{subject.name}.report.json"
    seconds, suite = _generated(subject, root, report, options, "--apply")
    if not suite:
        return Row(subject.path, "testforge", seconds=seconds)
    return _score(subject, root, suite["path"], "testforge", seconds, options)


def _install(subject: Subject, root: Path, options: argparse.Namespace) -> None:
    """Let testforge make and cache the environment, so that `seconds` is the time of the work itself."""
    nothing = options.work / "test_nothing.py"
    nothing.write_text("def test_nothing():\n    assert True\n", encoding="utf-8")
    _command(["score", subject.path, str(nothing), "--max-mutants", "1"], root, options)


def _generated(
    subject: Subject, root: Path, report: Path, options: argparse.Namespace, *more: str
) -> tuple[float, dict]:
    """Return the seconds that `testforge generate` took, and the suite of its report; empty if it has none."""
    report.unlink(missing_ok=True)
    started = time.monotonic()
    seed = ["--seed", str(options.seed)]
    _command(["generate", subject.path, "--json", str(report), *seed, *more], root, options)
    seconds = time.monotonic() - started
    target = (_read(report).get("targets") or [{}])[0]
    return seconds, target.get("suite") or {}


def _same_again(subject: Subject, row: Row, root: Path, options: argparse.Namespace) -> bool:
    """Whether a second run on a fresh repository gives the same file."""
    fresh = lay_out(subject, options.work, "again")
    _, suite = _generated(subject, fresh, fresh.parent / f"{subject.name}.report.json", options)
    return suite.get("path") == row.suite and suite["content"] == (root / row.suite).read_text("utf-8")


def _pynguin(subject: Subject, root: Path, options: argparse.Namespace) -> Row:
    started = time.monotonic()
    found = pynguin_tests(subject, root, options.work, search_s=SEARCH_S, seed=options.seed)
    seconds = time.monotonic() - started
    if found is None:
        return Row(subject.path, "pynguin", seconds=seconds)
    suite = root / "tests" / "test_pynguin.py"
    suite.parent.mkdir(exist_ok=True)
    shutil.copyfile(found, suite)
    return _score(subject, root, "tests/test_pynguin.py", "pynguin", seconds, options)


def _score(
    subject: Subject, root: Path, suite: str, tool: str, seconds: float, options: argparse.Namespace
) -> Row:
    report = root.parent / f"{subject.name}.{tool}.score.json"
    report.unlink(missing_ok=True)
    sample = ["--max-mutants", str(options.max_mutants)] if options.max_mutants else []
    _command(["score", subject.path, suite, "--json", str(report), *sample], root, options)
    found = _read(report)
    if not found:
        return Row(subject.path, tool, seconds=seconds, suite=suite)
    return Row(
        subject.path,
        tool,
        found["outcomes"]["passed"],
        found["coverage"]["lines"],
        found["coverage"]["branches"],
        (found["mutation"] or {}).get("score"),
        found["pass_at_1"],
        len(found["hollow"]),
        seconds,
        suite,
    )


def _with_stability(row: Row, root: Path, runs: int) -> Row:
    """Run a suite again and again, each time in another order, and note what did not always pass."""
    flaky: set[str] = set()
    ids = _collected(root, row.suite)
    for run in range(runs):
        order = list(ids)
        random.Random(run).shuffle(order)
        done = _pytest(root, ["-q", "-rfE", *order])
        flaky.update(
            line.split(" ")[1] for line in done.splitlines() if line.startswith(("FAILED ", "ERROR "))
        )
    return replace(row, runs=runs, flaky=tuple(sorted(flaky)))


def _collected(root: Path, suite: str) -> list[str]:
    listed = _pytest(root, ["--collect-only", "-q", suite])
    return sorted({line.partition("[")[0] for line in listed.splitlines() if "::" in line})


def _pytest(root: Path, arguments: Sequence[str]) -> str:
    """Return what pytest prints. Raises RuntimeError if it could not run."""
    needs = [part for name in ("pytest", *dependencies(root)) for part in ("--with", name)]
    uv = str(Path(sys.executable).parent / "uv")
    command = [uv, "run", "-q", "--no-project", *needs, "python", "-m", "pytest", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, *arguments],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1):
        raise RuntimeError(f"pytest could not run in {root}: {done.stdout[-500:]}{done.stderr[-500:]}")
    return done.stdout


def _command(arguments: Sequence[str], root: Path, options: argparse.Namespace) -> None:
    """Run testforge, whose progress goes to the terminal and whose report goes to a file."""
    testforge = Path(sys.executable).parent / "testforge"
    subprocess.run(
        [str(testforge), *arguments, "--sandbox", options.sandbox],
        cwd=root,
        stdout=subprocess.DEVNULL,
        check=False,
    )


def _read(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


if __name__ == "__main__":
    sys.exit(main())
