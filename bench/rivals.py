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
from bench.stopwatch import Spent, stopwatch
from bot.domain import Mutant

MUTMUT, GREMLINS = "mutmut==3.*", "pytest-gremlins==1.*"
_PROGRESS = re.compile(r"Progress (\d+)/\d+")


@dataclass(frozen=True, slots=True)
class Judged:
    """What a tool has judged, and what that took, its start included."""

    mutants: int
    spent: Spent

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
    _, spent = _bounded(
        [str(python.parent / "mutmut"), "run", "--max-children", "2"],
        place,
        _environ(None),
        seconds,
    )
    metas = [_meta(path) for path in (place / "mutants").rglob(f"{Path(project.path).name}.meta")]
    codes = [code for meta in metas for code in meta.get("exit_code_by_key", {}).values()]
    return Judged(sum(code is not None for code in codes), spent)


def gremlins(project: Project, tree: Path, work: Path, seconds: float) -> Judged:
    """Run pytest-gremlins with two workers for so many seconds at most."""
    python = environment("gremlins", work, GREMLINS)
    place = _copied(tree, work / "gremlins" / project.name)
    options = [
        "-o",
        "filterwarnings=default",
        "--gremlins",
        f"--gremlin-targets={project.path}",
        "--gremlin-workers=2",
    ]
    text, spent = _bounded(
        [str(python), "-m", "pytest", "-p", "no:cacheprovider", *options, project.tests],
        place,
        _environ(place / project.root),
        seconds,
    )
    return Judged(max(map(int, _PROGRESS.findall(text)), default=0), spent)


def _bounded(
    command: Sequence[str], place: Path, env: Mapping[str, str], seconds: float
) -> tuple[str, Spent]:
    """Run a command, for so many seconds at most, and return what it printed and spent."""
    log = place / "log.txt"
    with stopwatch() as spent, log.open("wb") as stream:
        process = subprocess.Popen(
            command, cwd=place, env=env, stdout=stream, stderr=stream, start_new_session=True
        )
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            # An interrupt lets the tools gather their children, whose CPU time is counted then.
            for how in (signal.SIGINT, signal.SIGKILL):
                with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
                    os.killpg(process.pid, how)
                    process.wait(timeout=10)
    return log.read_text(errors="replace"), spent()


def _copied(tree: Path, place: Path) -> Path:
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(tree, place)
    return place


def _environ(root: Path | None) -> dict[str, str]:
    paths = {"PYTHONPATH": str(root)} if root is not None else {}
    return {**os.environ, "PYTHONHASHSEED": "0", **paths}


def _id(mutation: object) -> str:
    return f"{mutation.operator_name}:{mutation.occurrence}"  # type: ignore[attr-defined]
