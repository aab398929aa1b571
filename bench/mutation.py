"""Measure the mutation engine beside other mutation testers: `python -m bench.mutation`.

On real modules with their upstream tests, from sdists on PyPI: the same sample of mutants is judged by the engine with
two workers and by `cosmic-ray exec` with its local distributor, in turn (the engine before and after it); then mutmut 3
and pytest-gremlins run on the same module with their own mutants, two workers each, for a bounded time. All tests run
in environments that hold pytest, what the tests need, and the tool. Printed are seconds of wall and CPU time per
mutant with everything that a tool does before the first one, the ratios, every mutant on which the engine and
cosmic-ray disagree with what the tests say of it by themselves, and at the end what was reached of what is asked.
Mutants that are equivalent or no Python are left out on both sides.

Under fifteen minutes on an idle machine with two cores. Work and results are kept below `--work`; `--reuse` takes what a rival
has shown before from there.
"""

from __future__ import annotations

import argparse
import json
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.goals import Row, summary
from bench.projects import PROJECTS, Project, environment, lay_out
from bench.rivals import Judged, cosmic_ray, gremlins, mutmut, seen_alone
from bench.stopwatch import Spent, memory_watch, stopwatch
from bot.domain import Mutant, MutantOutcome, MutationResult, SuiteRun, Target
from bot.measure.mutants import MutantSet, generate
from bot.measure.mutation import judge
from bot.measure.outcomes import run_tests
from bot.sandbox import Interpreter, Sandbox
from bot.sandbox.guest.children import adopt_orphans
from bot.sandbox.process import ProcessSandboxes

_CAUGHT = (MutantOutcome.KILLED, MutantOutcome.TIMEOUT)
_FORK = (
    "import os, pytest, time\nbegan = time.process_time(), os.times()\nfor _ in range(200):\n"
    "    child = os.fork()\n    if not child: os._exit(0)\n    os.waitpid(child, 0)\n"
    "ended = os.times()\nspent = [sum(t[:4]) for t in (began[1], ended)]\nprint((spent[1] - spent[0]) / 200)\n"
)


@dataclass(frozen=True, slots=True)
class Ours:
    """The engine's part of a row.

    Attributes:
        spent: For all mutants, the engine's start and its control included.
        cover: The run with coverage that tells which tests reach what.
        limit: CPU seconds below which it cannot come: for each mutant a fork, and its killer or all tests that reach it.
        memory: Largest sum of the processes' proportional shares, in MB.
    """

    mutants: MutantSet
    result: MutationResult
    spent: Spent
    cover: Spent
    limit: float
    memory: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark and print its tables; the exit code is 1 if verdicts agree on fewer than 99%."""
    options = _options(arguments)
    work = options.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    adopt_orphans()
    # Otherwise a project without a configuration of its own gets the one of the directory around.
    (work / "pytest.ini").write_text("[pytest]\n")
    python = environment("lean", work, "coverage")
    fork = float(subprocess.run([str(python), "-c", _FORK], capture_output=True, check=True).stdout)
    _say(
        f"A fork costs {1000 * fork:.1f} ms of CPU time here; times below are milliseconds a mutant, wall/CPU."
    )
    _say(
        f"{'module':38} {'n':>4} {'engine':>11} {'cosmic-ray':>12} {'ratio':>10} {'+coverage':>9} {'agree':>7} "
        f"{'limit':>6} {'mutmut':>10} {'gremlins':>10} {'MB':>4}"
    )
    rows = [
        _row(project, work, python, fork, options)
        for project in PROJECTS
        if not options.projects or project.name in options.projects
    ]
    if options.only == "engine":
        return 0
    more = None if options.projects else _unrelated(work, python)
    for line in summary(rows, more):
        _say(line)
    return int(sum(row.same for row in rows) < 0.99 * sum(row.compared for row in rows))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("projects", nargs="*", help="names of projects; all by default")
    parser.add_argument("--mutants", type=int, default=70, help="size of each module's sample")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=15.0, help="limit for each of mutmut and gremlins")
    parser.add_argument("--only", choices=["engine", "cosmic-ray"], help="leave out the other rivals")
    parser.add_argument(
        "--reuse", action="store_true", help="take rivals' earlier results, where there are some"
    )
    parser.add_argument("--work", type=Path, default=Path(".bench/mutation"))
    return parser.parse_args(arguments)


def _row(project: Project, work: Path, python: Path, fork: float, options: argparse.Namespace) -> Row:
    """Measure one module and print its row."""
    tree = lay_out(project, work)
    ours = _engine(project, tree, python, fork, options)
    count = len(ours.mutants.mutants)
    if options.only == "engine":
        _say(
            f"{project.path:38} {count:4} {_shown(ours.spent.each(count)):>11} limit "
            f"{1000 * ours.limit / count:.1f} {ours.memory:.0f} MB {ours.result.score}"
        )
        return Row(1.0, 1.0, 1.0, {}, 0, 0, ours.memory)
    key = f"{project.requirement}-{options.seed}-{count}"
    outcomes, cosmic = _kept(
        work / "results" / f"cosmic-ray-{key}.json",
        options.reuse,
        lambda: cosmic_ray(project, tree, work, ours.mutants.mutants),
    )
    again = _engine(project, tree, python, fork, options, again=True)
    spent = Spent((ours.spent.wall + again.spent.wall) / 2, (ours.spent.cpu + again.spent.cpu) / 2)
    each, theirs = spent.each(count), cosmic.each
    others = {} if options.only else _others(project, tree, work, options)
    disagreeing = _disagreements(project, ours.result, outcomes)
    row = Row(
        theirs.wall / each.wall,
        theirs.cpu / each.cpu,
        theirs.wall / (each.wall + ours.cover.wall / count),
        {
            name: (judged.each.wall / each.wall, judged.each.cpu / each.cpu)
            for name, judged in others.items()
            if judged.mutants
        },
        len(outcomes) - len(disagreeing),
        len(outcomes),
        max(ours.memory, again.memory),
    )
    columns = " ".join(
        f"{_shown(judged.each) if judged.mutants else 'none':>10}" for judged in others.values()
    )
    _say(
        f"{project.path:38} {count:4} {_shown(each):>11} {_shown(theirs):>12} {row.wall:4.1f}/{row.cpu:4.1f} "
        f"{row.whole:9.1f} {row.same / max(1, row.compared):7.1%} {1000 * ours.limit / count:6.1f} {columns} {row.memory:4.0f}"
    )
    _say(
        f"    {each.cpu * count / max(ours.limit, fork):.1f} times the CPU time of its forks and the tests that they need, the "
        "start and the controls included"
    )
    for name, judged in others.items():
        if judged.mutants:
            wall, cpu = row.rivals[name]
            _say(
                f"    {name}: {judged.mutants} mutants; the engine is {wall:.1f} (wall), {cpu:.1f} (CPU) times as fast"
            )
        else:
            _say(f"    {name}: none, since {judged.why}")
    for mutant, text in disagreeing:
        _say(f"    {text}\n    by itself: {seen_alone(project, tree, work, mutant)}")
    for note in ours.result.notes:
        _say(f"    {note}")
    return row


def _others(project: Project, tree: Path, work: Path, options: argparse.Namespace) -> dict[str, Judged]:
    """Run mutmut and gremlins; a rival's fault costs its own column and not the table."""
    found = {}
    for tool in (mutmut, gremlins):
        path = work / "results" / f"{tool.__name__}-{project.requirement}.json"
        try:
            _, judged = _kept(
                path,
                options.reuse,
                lambda tool=tool: ({}, tool(project, tree, work, options.seconds)),  # type: ignore[misc]
            )
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            judged = Judged(0, Spent(0.0, 0.0), f"it could not be started: {error}")
        found[tool.__name__] = judged
    return found


def _engine(
    project: Project,
    tree: Path,
    python: Path,
    fork: float,
    options: argparse.Namespace,
    *,
    again: bool = False,
) -> Ours:
    source = (tree / project.path).read_text(encoding="utf-8")
    mutants = generate(project.path, source, limit=options.mutants, seed=options.seed)
    target = Target(project.path, project.module, source, frozenset(), whole_file=True)
    with ProcessSandboxes().open(tree, _interpreter(project, python)) as box:
        with stopwatch() as cover:
            run = _covered(box, project, [project.tests])
        plain = run if again else run_tests(box, [project.tests], timeout_s=600)
        with memory_watch(0.5) as memory, stopwatch() as spent:
            result = judge(box, target, mutants, run)
    limit_s = _limit(project, run, plain, result, fork)
    return Ours(mutants, result, spent(), cover(), limit_s, memory())


def _interpreter(project: Project, python: Path) -> Interpreter:
    return Interpreter(
        command=str(python),
        version=".".join(platform.python_version_tuple()[:2]),
        import_roots=(project.root,),
        mounts=(python.parent.parent, Path(sys.base_prefix)),
        key="bench",
    )


def _covered(box: Sandbox, project: Project, selection: Sequence[str]) -> SuiteRun:
    run = run_tests(box, selection, cover=[project.path], timeout_s=600)
    if not run.passed:
        raise SystemExit(f"{project.requirement}: no test passes: {run.crash or run.collection_errors}")
    return run


def _limit(project: Project, run: SuiteRun, plain: SuiteRun, result: MutationResult, fork: float) -> float:
    """Return the CPU seconds of a fork and the needed tests, without coverage, for each mutant that a test reaches."""
    seconds = {each.id: each.duration_s for each in plain.results}
    lines = run.coverage[project.path].lines_by_test
    total = 0.0
    for verdict in result.verdicts:
        touched = range(verdict.mutant.first, verdict.mutant.last + 1)
        if verdict.outcome in _CAUGHT and verdict.killed_by is not None:
            total += fork + seconds.get(verdict.killed_by, 0.0)
        elif verdict.outcome is MutantOutcome.SURVIVED:
            reaching = [test for test, reached in lines.items() if not reached.isdisjoint(touched)]
            total += (fork if reaching else 0.0) + sum(seconds.get(test, 0.0) for test in reaching)
    return total


def _disagreements(
    project: Project, result: MutationResult, theirs: dict[str, str]
) -> list[tuple[Mutant, str]]:
    """Return each mutant on which the two disagree, with a sentence."""
    found = []
    for verdict in result.verdicts:
        mutant = verdict.mutant
        if mutant.id in theirs and (verdict.outcome in _CAUGHT) != (theirs[mutant.id] == "killed"):
            by = f" by {verdict.killed_by}" if verdict.killed_by else ""
            text = (
                f"disagree on {project.path}:{mutant.first} {mutant.id}: {verdict.outcome.value}{by}, "
                f"cosmic-ray {theirs[mutant.id]}\n{mutant.diff}"
            )
            found.append((mutant, text))
    return found


def _unrelated(work: Path, python: Path) -> float:
    """Measure what twice as many tests add, as a fraction of the CPU time, if they do not reach the module."""
    project = next(project for project in PROJECTS if project.also)
    spent = []
    for copies in (1, 2):
        tree = work / "unrelated" / str(copies)
        shutil.rmtree(tree, ignore_errors=True)
        shutil.copytree(lay_out(project, work), tree)
        for test in sorted((tree / project.also).glob("test_*.py")) if copies > 1 else ():
            if test.relative_to(tree).as_posix() != project.tests:
                shutil.copy(test, test.with_name(f"{test.stem}_again.py"))
        source = (tree / project.path).read_text(encoding="utf-8")
        target = Target(project.path, project.module, source, frozenset(), whole_file=True)
        mutants = generate(project.path, source, limit=400, seed=0)
        with ProcessSandboxes().open(tree, _interpreter(project, python)) as box:
            run = _covered(box, project, [project.also])
            with stopwatch() as watch:
                judge(box, target, mutants, run)
        spent.append((len(run.passed), watch().cpu))
    (few, before), (many, after) = spent
    _say(
        f"Twice the unrelated tests ({few} tests, then {many}) cost {after / before - 1:+.1%} "
        f"CPU time for {len(mutants.mutants)} mutants of {project.path}."
    )
    return after / before - 1


def _kept(
    path: Path, reuse: bool, measure: Callable[[], tuple[dict[str, str], Judged]]
) -> tuple[dict[str, str], Judged]:
    """Return a rival's result, measured now or, where that is asked for, before; it is kept either way."""
    if reuse and path.exists():
        kept = json.loads(path.read_text())
        return kept["outcomes"], Judged(kept["mutants"], Spent(**kept["spent"]), kept.get("why", ""))
    outcomes, judged = measure()
    path.parent.mkdir(parents=True, exist_ok=True)
    kept = {"outcomes": outcomes, **asdict(judged), "at": time.time()}
    path.write_text(json.dumps(kept))
    return outcomes, judged


def _shown(spent: Spent) -> str:
    return f"{1000 * spent.wall:.0f}/{1000 * spent.cpu:.0f}"


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
