"""Measure the mutation engine beside cosmic-ray: `python -m bench.mutation`.

On real modules with their upstream tests, from sdists on PyPI: the same sample of mutants is judged by the engine and
by `cosmic-ray exec` with its local distributor, in turn. Printed are seconds of wall and CPU time per mutant, their
ratios, and every mutant on which the two disagree. Mutants that are equivalent or no Python are left out on both sides.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cosmic_ray.work_db import WorkDB, use_db

from bot.domain import MutantOutcome, MutationResult, SuiteRun, Target
from bot.measure.mutants import MutantSet, generate
from bot.measure.mutation import judge
from bot.measure.outcomes import run_tests
from bot.sandbox import Interpreter
from bot.sandbox.process import ProcessSandboxes


@dataclass(frozen=True, slots=True)
class Module:
    """A module with its project's tests.

    Attributes:
        requirement: The project's sdist.
        root: Its import root within the sdist.
        needs: What its tests import besides.
    """

    requirement: str
    path: str
    tests: str
    root: str = "."
    needs: tuple[str, ...] = ()


MODULES = (
    Module("python-slugify==5.0.2", "slugify/slugify.py", "test.py", needs=("text-unidecode",)),
    Module("humanize==4.17.0", "src/humanize/time.py", "tests/test_time.py", "src", ("freezegun",)),
    Module("sqlparse==0.6.1", "sqlparse/engine/statement_splitter.py", "tests"),
    Module("itsdangerous==2.2.0", "src/itsdangerous/timed.py", "tests", "src", ("freezegun",)),
    Module("boltons==26.2.0", "boltons/cacheutils.py", "tests/test_cacheutils.py"),
)


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds for a number of mutants."""

    wall: float
    cpu: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark and print its table; the exit code is 1 if verdicts agree on fewer than 99%."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", help="names of projects; all by default")
    parser.add_argument("--mutants", type=int, default=100, help="size of the sample, per module")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", type=Path, default=Path("bench-work"))
    options = parser.parse_args(arguments)
    ratios, agreed, compared = [], 0, 0
    _say(f"{'module':40} {'mutants':>7} {'engine':>15} {'cosmic-ray':>15} {'ratio':>11} {'agree':>7}")
    for module in MODULES:
        if options.modules and module.requirement.partition("==")[0] not in options.modules:
            continue
        tree = _lay_out(module, options.work.resolve())
        mutants, result, ours = _engine(module, tree, options)
        theirs, cosmic = _cosmic_ray(module, tree, options.work.resolve(), mutants)
        same = _compare(module, result, theirs)
        agreed, compared = agreed + same, compared + len(theirs)
        ratios.append((cosmic.wall / ours.wall, cosmic.cpu / ours.cpu))
        each = len(mutants.mutants)
        _say(
            f"{module.path:40} {each:7} {_per(ours, each):>15} {_per(cosmic, each):>15} "
            f"{ratios[-1][0]:5.1f}/{ratios[-1][1]:5.1f} {same / max(1, len(theirs)):7.1%}",
        )
    wall, cpu = (statistics.geometric_mean(column) for column in zip(*ratios, strict=True))
    _say(f"geometric mean of the ratios: wall {wall:.1f}, CPU {cpu:.1f}; agreement {agreed}/{compared}")
    return int(agreed < 0.99 * compared)


def _lay_out(module: Module, work: Path) -> Path:
    """Fetch an sdist and what its tests need; return its tree."""
    name = module.requirement.replace("==", "-")
    tree, deps = work / name, work / f"{name}-needs"
    if tree.exists():
        return tree
    sdists = work / "sdists" / name
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run(
        [*pip, "download", "--no-deps", "--no-binary", ":all:", "-d", str(sdists), module.requirement],
        check=True,
    )
    deps.mkdir(parents=True, exist_ok=True)
    if module.needs:
        subprocess.run([*pip, "install", "--target", str(deps), *module.needs], check=True)
    with tarfile.open(next(sdists.glob("*.tar.gz"))) as archive:
        archive.extractall(work / f"{name}-sdist", filter="data")
    shutil.move(next((work / f"{name}-sdist").iterdir()), tree)
    if module.tests == "test.py":
        # pytest collects `test_*.py` only, and cosmic-ray is given the file by name: so is the engine.
        (tree / "test.py").rename(tree / "test_all.py")
    return tree


def _tests(module: Module) -> str:
    return "test_all.py" if module.tests == "test.py" else module.tests


def _engine(
    module: Module, tree: Path, options: argparse.Namespace
) -> tuple[MutantSet, MutationResult, Spent]:
    deps = tree.with_name(f"{tree.name}-needs")
    interpreter = Interpreter(
        command=sys.executable,
        version=".".join(platform.python_version_tuple()[:2]),
        import_roots=(module.root,),
        extra_path=(str(deps),),
        mounts=(Path(sys.prefix), Path(sys.base_prefix), deps),
        key="bench",
    )
    source = (tree / module.path).read_text(encoding="utf-8")
    mutants = generate(module.path, source, limit=options.mutants, seed=options.seed)
    target = Target(module.path, "", source, frozenset(), whole_file=True)
    with ProcessSandboxes().open(tree, interpreter) as box:
        run: SuiteRun = run_tests(box, [_tests(module)], cover=[module.path], timeout_s=600)
        if not run.passed:
            raise SystemExit(f"{module.requirement}: no test passes: {run.crash or run.collection_errors}")
        with _stopwatch() as spent:
            result = judge(box, target, mutants, run)
    for note in result.notes:
        _say(f"  {note}")
    return mutants, result, spent()


def _cosmic_ray(module: Module, tree: Path, work: Path, mutants: MutantSet) -> tuple[dict[str, str], Spent]:
    """Return cosmic-ray's outcome for each mutant of a sample, and what that took."""
    place = work / "cosmic-ray"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(tree, place)
    command = f"{sys.executable} -m pytest -x -q -p no:cacheprovider {_tests(module)}"
    (place / "session.toml").write_text(
        f'[cosmic-ray]\nmodule-path = "{module.path}"\ntimeout = 60.0\nexcluded-modules = []\n'
        f'test-command = "{command}"\n[cosmic-ray.distributor]\nname = "local"\n'
    )
    paths = [str(place / module.root), str(tree.with_name(f"{tree.name}-needs"))]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "PYTHONHASHSEED": "0"}
    subprocess.run(command.split(), cwd=place, env=env, check=True, capture_output=True)  # warms the bytecode
    tool = [sys.executable, "-m", "cosmic_ray.cli"]
    subprocess.run([*tool, "init", "session.toml", "session.sqlite"], cwd=place, env=env, check=True)
    chosen = {mutant.id for mutant in mutants.mutants}
    with use_db(str(place / "session.sqlite"), WorkDB.Mode.open) as database:
        items = [i for i in database.work_items if _id(i.mutations[0]) in chosen]
        database.clear()
        database.add_work_items(items)
    with _stopwatch() as spent:
        subprocess.run([*tool, "exec", "session.toml", "session.sqlite"], cwd=place, env=env, check=True)
    with use_db(str(place / "session.sqlite"), WorkDB.Mode.open) as database:
        names = {item.job_id: _id(item.mutations[0]) for item in database.work_items}
        return {names[job]: str(result.test_outcome.value) for job, result in database.results}, spent()


def _id(mutation: object) -> str:
    return f"{mutation.operator_name}:{mutation.occurrence}"  # type: ignore[attr-defined]


def _compare(module: Module, result: MutationResult, theirs: dict[str, str]) -> int:
    """Print where the two disagree; return on how many mutants they agree."""
    caught = {MutantOutcome.KILLED, MutantOutcome.TIMEOUT}
    same = 0
    for verdict in result.verdicts:
        if verdict.mutant.id not in theirs:
            continue
        if (verdict.outcome in caught) == (theirs[verdict.mutant.id] == "killed"):
            same += 1
        else:
            _say(
                f"  disagree on {module.path}:{verdict.mutant.first} {verdict.mutant.id}: engine "
                f"{verdict.outcome.value}, cosmic-ray {theirs[verdict.mutant.id]}\n{verdict.mutant.diff}"
            )
    return same


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


@contextmanager
def _stopwatch() -> Iterator[Callable[[], Spent]]:
    """Measure a block: wall time, and CPU time of this process and those it waited for."""
    spent: list[Spent] = []
    wall, cpu = time.monotonic(), _cpu()
    yield lambda: spent[0]
    spent.append(Spent(time.monotonic() - wall, _cpu() - cpu))


def _cpu() -> float:
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def _per(spent: Spent, mutants: int) -> str:
    return f"{spent.wall / mutants:.3f}/{spent.cpu / mutants:.3f} s"


if __name__ == "__main__":
    sys.exit(main())
