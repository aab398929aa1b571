"""Real projects get an environment in Docker and run their own tests in it: `python -m bench.environments`.

Each project's sdist of a pinned version is fetched with pip (in a sandbox, since pip asks its build backend for metadata),
laid out as a git repository, prepared as testforge prepares any repository, and tested as testforge takes a baseline. What
is known of a project is kept in the work directory, so that an interrupted run goes on where it was. Printed is a table in
Markdown; `--write FILE` puts it into a page. A Docker engine with a sandbox image is needed.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bot import changes, environment, repoconfig
from bot.domain import Outcome, SuiteRun
from bot.environment import declared
from bot.environment.indexes import configured
from bot.errors import TestforgeError
from bot.measure.outcomes import run_tests
from bot.sandbox import Interpreter
from bot.sandbox.docker import DockerSandboxes
from bot.sandbox.process import ProcessSandboxes

TESTS_S, TEST_S = 600.0, 120.0
COMPILER = ("apt-get install -y gcc libc6-dev python3-dev",)
COMPILER_CPP = ("apt-get install -y g++ libc6-dev python3-dev",)


@dataclass(frozen=True, slots=True)
class Project:
    """A project on PyPI whose sdist holds its tests.

    Attributes:
        requirement: Its name and version, pinned.
        setup: What its `.github/testforge.yml` would have under `environment.setup`.
        tests: Its test files, where pytest would not find them by their names.
        known: Why tests of it fail, as far as a person has found out; told only if some do.
    """

    requirement: str
    setup: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    known: str = ""

    @property
    def name(self) -> str:
        """Its name on PyPI."""
        return self.requirement.partition("==")[0]


PROJECTS = (
    Project("inflection==0.5.1"),
    Project("python-slugify==5.0.2", tests=("test.py",)),
    Project("xmltodict==0.14.2"),
    Project("cachetools==5.5.2"),
    Project("pluggy==1.6.0"),
    Project("simplejson==3.20.1", COMPILER),
    Project("markupsafe==3.0.2", COMPILER),
    Project("multidict==6.4.3", COMPILER),
    Project("tomlkit==0.13.2"),
    Project("cleo==2.1.0"),
    Project("itsdangerous==2.2.0"),
    Project("more-itertools==10.7.0"),
    Project("idna==3.10"),
    Project("boltons==26.2.0"),
    Project("humanize==4.12.3"),
    Project(
        "attrs==25.3.0",
        known="its extra dev takes the newest mypy, which words types otherwise than its tests expect",
    ),
    Project("sqlparse==0.6.1"),
    Project("termcolor==3.1.0"),
    Project(
        "marko==2.1.3", known="its tests need its extra toc, which its groups for development do not name"
    ),
    Project("findpython==0.6.3"),
    Project("levenshtein==0.27.1", COMPILER_CPP),
    Project("contourpy==1.3.3", COMPILER_CPP),
)


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a project.

    Attributes:
        backend: What builds it.
        decided: How the environment and its Python were decided, in testforge's own words.
        notes: What testforge said besides.
        outcomes: Numbers of tests by outcome.
        cause: Why it, or some of its tests, failed; empty if nothing did.
        install_s, again_s, tests_s: Seconds for making the environment, for finding it unchanged, and for the tests.
    """

    requirement: str
    backend: str = ""
    decided: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    outcomes: dict[str, int] = field(default_factory=dict)
    cause: str = ""
    install_s: float = 0.0
    again_s: float = 0.0
    tests_s: float = 0.0

    @property
    def red(self) -> int:
        """How many tests did not end as their authors meant."""
        return sum(
            self.outcomes.get(each.value, 0) for each in (Outcome.FAILED, Outcome.ERROR, Outcome.TIMED_OUT)
        )

    @property
    def green(self) -> bool:
        """Whether there are tests, and all of them do."""
        return not self.cause and not self.red and self.outcomes.get(Outcome.PASSED.value, 0) > 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark and print its table; the exit code is 1 if fewer than half of the projects are green."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("projects", nargs="*", help="names of projects; all by default")
    parser.add_argument("--work", type=Path, default=Path("bench-work/environments"))
    parser.add_argument("--again", action="store_true", help="forget what is known of the projects")
    parser.add_argument("--write", type=Path, help="a page to write the table into")
    options = parser.parse_args(arguments)
    chosen = [project for project in PROJECTS if not options.projects or project.name in options.projects]
    results = []
    for project in chosen:
        record = options.work.resolve() / "results" / f"{project.name}.json"
        if options.again or not record.exists():
            print(f"{project.requirement} ...", file=sys.stderr, flush=True)
            result = _try(project, options.work.resolve())
            record.parent.mkdir(parents=True, exist_ok=True)
            record.write_text(json.dumps(dataclasses.asdict(result), indent=1))
        results.append(Result(**json.loads(record.read_text())))
    table = _table(results, {project.requirement: project.known for project in chosen})
    print(table)
    if options.write:
        options.write.write_text(_page(table), encoding="utf-8")
    return 0 if 2 * sum(result.green for result in results) >= len(results) else 1


def _try(project: Project, work: Path) -> Result:
    try:
        repository = _lay_out(project, work)
    except (OSError, subprocess.CalledProcessError, TestforgeError, StopIteration) as problem:
        return Result(project.requirement, cause=f"its sdist cannot be had: {problem}")
    wanted = declared.read(repository)
    result = Result(project.requirement, wanted.backend or "setuptools, legacy setup.py")
    said: list[str] = []
    config = repoconfig.RepoConfig(environment=repoconfig.Environment(setup=project.setup))
    roots = changes.import_roots(changes.working_files(repository))
    seconds: list[float] = []
    try:
        sandboxes = DockerSandboxes()
        for _ in range(2):
            said.clear()
            begun = time.perf_counter()
            interpreter = environment.prepare(
                repository, repository, config, roots=roots, note=said.append, sandboxes=sandboxes
            )
            seconds.append(time.perf_counter() - begun)
        begun = time.perf_counter()
        with sandboxes.open(repository, interpreter) as box:
            run = run_tests(box, project.tests, timeout_s=TESTS_S, test_timeout_s=TEST_S)
        tests_s = time.perf_counter() - begun
    except TestforgeError as problem:
        last = problem.detail.strip().splitlines()[-1:]
        told = " ".join([problem.message, *last])
        return dataclasses.replace(result, decided=tuple(said[:2]), notes=tuple(said[2:]), cause=told)
    return dataclasses.replace(
        result,
        decided=tuple(said[:2]),
        notes=tuple(said[2:]),
        outcomes=dict(collections.Counter(found.outcome.value for found in run.results)),
        cause=_cause(run),
        install_s=seconds[0],
        again_s=seconds[1],
        tests_s=tests_s,
    )


def _lay_out(project: Project, work: Path) -> Path:
    """Return a git repository with a project's sdist."""
    sdists = work / "sdists" / project.name
    sdists.mkdir(parents=True, exist_ok=True)
    if not any(sdists.glob("*.tar.gz")):
        _fetch(project, sdists)
    root = work / "repositories" / project.name
    shutil.rmtree(root, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=work) as directory:
        with tarfile.open(next(sdists.glob("*.tar.gz"))) as archive:
            archive.extractall(directory, filter="data")
        root.parent.mkdir(parents=True, exist_ok=True)
        next(path for path in Path(directory).iterdir() if path.is_dir()).rename(root)
    for words in (["init", "-q"], ["add", "-A", "-f"], ["commit", "-q", "-m", "The sdist as published"]):
        identity = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"]
        subprocess.run(["git", *identity, *words], cwd=root, check=True, capture_output=True)
    return root


def _fetch(project: Project, into: Path) -> None:
    """Download a project's sdist; its build backend, which pip asks about it, runs in a sandbox."""
    indexes = configured()
    python = Interpreter(sys.executable, "", (), mounts=(*indexes.paths, Path(sys.prefix)))
    words = [
        "-m",
        "pip",
        "download",
        "-q",
        "--no-deps",
        "--no-binary",
        ":all:",
        "-d",
        str(into),
        project.requirement,
    ]
    with (
        tempfile.TemporaryDirectory() as empty,
        ProcessSandboxes().open(Path(empty), python, network=True, writable=(into,)) as box,
    ):
        done = box.run([sys.executable, *words], timeout_s=TESTS_S, env=dict(indexes.variables))
    if done.exit_code != 0:
        raise OSError(" ".join(done.stderr.split())[-300:])


def _cause(run: SuiteRun) -> str:
    """Return why tests failed, the most frequent reason first; empty if none did."""
    told: list[str] = [run.crash] if run.crash else []
    told += [f"{error.path}: {error.reason}" for error in run.collection_errors]
    failed = (Outcome.FAILED, Outcome.ERROR, Outcome.TIMED_OUT)
    reasons = collections.Counter(
        found.message.splitlines()[0][:160]
        for found in run.results
        if found.outcome in failed and found.message
    )
    told += [f"{count} times {reason}" if count > 1 else reason for reason, count in reasons.most_common(2)]
    if not told and not run.results:
        told.append("no tests were found")
    return "; ".join(told[:3])


def _table(results: Sequence[Result], known: Mapping[str, str]) -> str:
    rows = [
        "| project | built by | Python and dependencies | passed | failed | skipped | install s | unchanged s | tests s | cause |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|---|",
    ]
    for result in results:
        count = result.outcomes.get
        cells = [
            result.requirement,
            result.backend,
            " ".join(result.decided),
            count("passed", 0),
            result.red,
            count("skipped", 0) + count("xfailed", 0),
            f"{result.install_s:.1f}",
            f"{result.again_s:.2f}",
            f"{result.tests_s:.1f}",
            "; ".join(filter(None, (result.cause, known[result.requirement] if result.red else ""))),
        ]
        rows.append("| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |")
    green = sum(result.green for result in results)
    backends = {result.backend for result in results}
    rows += ["", f"{green} of {len(results)} projects, of {len(backends)} build backends, are green."]
    return "\n".join(rows)


def _page(table: str) -> str:
    return (
        "# Real projects in environments made by testforge\n\n"
        "Made by `python -m bench.environments --write docs/environments.md`: each project's sdist from PyPI, as a git\n"
        "repository, prepared and tested in Docker as for `testforge review --sandbox docker`, without the network for the\n"
        "tests. Seconds are of the machine that ran it, and depend on its load. Projects with extension modules have\n"
        "`environment: {setup: [apt-get install ...]}` with a compiler, as `bench/environments.py` lists them.\n\n"
        f"{table}\n"
    )


if __name__ == "__main__":
    sys.exit(main())
