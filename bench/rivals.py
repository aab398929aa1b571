"""Other mutation testers on the same modules: cosmic-ray on the same mutants, mutmut 3 and pytest-gremlins on their own."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.projects import Project, environment
from bench.stopwatch import Spent, processes_below, stopwatch
from bot.domain import Mutant

MUTMUT, GREMLINS = "mutmut==3.*", "pytest-gremlins==1.*"
_CONFIGURATIONS = ("pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
_PROGRESS = re.compile(r"Progress (\d+)/\d+")


@dataclass(frozen=True, slots=True)
class Judged:
    """What a tool has judged, and what that took, its start included.

    Attributes:
        why: Why it has judged none; empty otherwise.
    """

    mutants: int
    spent: Spent
    why: str = ""

    @property
    def each(self) -> Spent:
        """The time for one mutant."""
        return self.spent.each(self.mutants)


def cosmic_ray(
    project: Project, tree: Path, work: Path, mutants: Sequence[Mutant]
) -> tuple[dict[str, str], Judged]:
    """Run `cosmic-ray exec` with its local distributor; return its outcome for each of the mutants.

    Its tests run in the same lean environment as the engine's.
    """
    # Imported here: only this rival lives in testforge's own environment.
    from cosmic_ray.work_db import WorkDB, use_db

    place = _copied(tree, work / "cosmic-ray" / project.name)
    command = f"{environment('lean', work, 'coverage')} -m pytest -x -q -p no:cacheprovider {project.tests}"
    (place / "session.toml").write_text(
        f'[cosmic-ray]\nmodule-path = "{project.path}"\ntimeout = 60.0\nexcluded-modules = []\n'
        f'test-command = "{command}"\n[cosmic-ray.distributor]\nname = "local"\n'
    )
    env = _environ(place / project.root)
    subprocess.run(command.split(), cwd=place, env=env, check=True, capture_output=True)  # warms the bytecode
    tool = [sys.executable, "-m", "cosmic_ray.cli"]
    subprocess.run([*tool, "init", "session.toml", "session.sqlite"], cwd=place, env=env, check=True)
    chosen = {mutant.id for mutant in mutants}
    with use_db(str(place / "session.sqlite"), WorkDB.Mode.open) as database:
        items = [item for item in database.work_items if _id(item.mutations[0]) in chosen]
        database.clear()
        database.add_work_items(items)
    with stopwatch() as spent:
        subprocess.run([*tool, "exec", "session.toml", "session.sqlite"], cwd=place, env=env, check=True)
    with use_db(str(place / "session.sqlite"), WorkDB.Mode.open) as database:
        names = {item.job_id: _id(item.mutations[0]) for item in database.work_items}
        outcomes = {names[job]: str(result.test_outcome.value) for job, result in database.results}
    return outcomes, Judged(len(outcomes), spent())


def seen_alone(project: Project, tree: Path, work: Path, mutant: Mutant) -> str:
    """Run the test command once more on a mutant by itself, and return how it ended: why two verdicts differ."""
    place = _copied(tree, work / "alone" / project.name)
    file = place / project.path
    source = file.read_text(encoding="utf-8")
    file.write_text(source[: mutant.start] + mutant.replacement + source[mutant.end :], encoding="utf-8")
    python = environment("lean", work, "coverage")
    options = ["-x", "-q", "-p", "no:cacheprovider", "--tb=line"]
    done = _bounded(
        [str(python), "-m", "pytest", *options, project.tests], place, _environ(place / project.root), 120
    )
    lines = [line.strip() for line in done.text.splitlines() if line.strip()]
    return "still running after 120 s" if done.code is None else " | ".join(lines[-3:])[:400]


def _meta(path: Path) -> dict[str, Any]:
    """Return what mutmut wrote of a file; nothing of one that it was ended in the middle of writing."""
    try:
        found: dict[str, Any] = json.loads(path.read_text())
    except ValueError:
        return {}
    return found


def mutmut(project: Project, tree: Path, work: Path, seconds: float) -> Judged:
    """Run mutmut 3 with two children for so many seconds at most."""
    python = environment("mutmut", work, MUTMUT)
    place = _copied(tree, work / "mutmut" / project.name)
    top = project.path.removeprefix("./").split("/")[0]
    (place / "setup.cfg").write_text(
        f"[mutmut]\nsource_paths={top}\nonly_mutate={project.path}\n"
        f"pytest_add_cli_args_test_selection={project.tests}\nalso_copy={project.tests.split('/')[0]}\n"
    )
    # A configuration in there comes before setup.cfg, and the projects' own is of no use in the copy.
    for other in ("pyproject.toml", "tox.ini", "pytest.ini"):
        (place / other).unlink(missing_ok=True)
    done = _bounded(
        [str(python.parent / "mutmut"), "run", "--max-children", "2"],
        place,
        _environ(None),
        seconds,
    )
    metas = [_meta(path) for path in (place / "mutants").rglob(f"{Path(project.path).name}.meta")]
    codes = [code for meta in metas for code in meta.get("exit_code_by_key", {}).values()]
    return done.judged(sum(code is not None for code in codes))


def gremlins(project: Project, tree: Path, work: Path, seconds: float) -> Judged:
    """Run pytest-gremlins with two workers for so many seconds at most."""
    python = environment("gremlins", work, GREMLINS)
    place = _copied(tree, work / "gremlins" / project.name)
    texts = [file.read_text() for file in map(place.joinpath, _CONFIGURATIONS) if file.exists()]
    if not any(
        section in text for text in texts for section in ("[pytest]", "[tool.pytest", "[tool:pytest]")
    ):
        # It looks for the module below pytest's root directory, which would be the benchmark's own.
        (place / "pytest.ini").write_text("[pytest]\n")
    options = [
        "-o",
        "filterwarnings=default",
        "--gremlins",
        f"--gremlin-targets={project.path}",
        "--gremlin-workers=2",
    ]
    done = _bounded(
        [str(python), "-m", "pytest", "-p", "no:cacheprovider", *options, project.tests],
        place,
        _environ(place / project.root),
        seconds,
    )
    return done.judged(max(map(int, _PROGRESS.findall(done.text)), default=0))


@dataclass(frozen=True, slots=True)
class _Done:
    """A command that has ended: what it printed and spent, and how it ended (None: it was stopped)."""

    text: str
    spent: Spent
    code: int | None

    def judged(self, mutants: int) -> Judged:
        if mutants:
            return Judged(mutants, self.spent)
        if self.code is None:
            return Judged(
                0, self.spent, f"it had judged no mutant when it was stopped after {self.spent.wall:.0f} s"
            )
        last = next((line.strip() for line in reversed(self.text.splitlines()) if line.strip()), "nothing")
        return Judged(
            0,
            self.spent,
            f"it ended with code {self.code} and no mutant judged; its last words: {last[:160]}",
        )


def _bounded(command: Sequence[str], place: Path, env: Mapping[str, str], seconds: float) -> _Done:
    """Run a command, for so many seconds at most."""
    code = None
    log = place / "log.txt"
    with stopwatch() as spent, log.open("wb") as stream:
        process = subprocess.Popen(
            command, cwd=place, env=env, stdout=stream, stderr=stream, start_new_session=True
        )
        try:
            code = process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            for how in (signal.SIGINT, signal.SIGKILL):
                with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
                    os.killpg(process.pid, how)
                    process.wait(timeout=10)
        _gather(process.pid)
    return _Done(log.read_text(errors="replace"), spent(), code)


def _gather(session: int) -> None:
    """End what a command has left behind, and wait for it: its CPU time is counted then, if `adopt_orphans` was called."""
    left = [process for process in processes_below(os.getpid()) if _session(process) == session]
    for process in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    for process in left:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(process, 0)


def _session(process: int) -> int:
    try:
        return os.getsid(process)
    except ProcessLookupError:
        return -1


def _copied(tree: Path, place: Path) -> Path:
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(tree, place)
    return place


def _environ(root: Path | None) -> dict[str, str]:
    paths = {"PYTHONPATH": str(root)} if root is not None else {}
    return {**os.environ, "PYTHONHASHSEED": "0", **paths}


def _id(mutation: object) -> str:
    return f"{mutation.operator_name}:{mutation.occurrence}"  # type: ignore[attr-defined]
