"""The workbench: one target's suite in a sandbox, run at most once for each state it has been in."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.agent.fingerprints import fingerprints
from bot.agent.verdicts import Verdicts
from bot.domain import FileCoverage, MutantVerdict, MutationResult, SuiteRun, Target
from bot.measure import outcomes
from bot.measure.mutants import MutantSet
from bot.sandbox import Sandbox

if TYPE_CHECKING:
    from bot.measure.baseline import Baseline

TEST_DIRECTORIES = frozenset({"tests", "test"})

_RESOLVE = (
    "import os, sys; print(os.path.relpath(os.path.realpath(sys.argv[1]), os.path.realpath(os.curdir)))"
)


@dataclass(frozen=True, slots=True)
class Covered:
    """What of a file is covered by passing tests of the suite and green existing tests together."""

    file: FileCoverage
    lines: frozenset[int]
    branches: frozenset[tuple[int, int]]


class Workbench:
    """Runs the suite and remembers every result by the suite's text, so that each state costs one run.

    Args:
        box: An open sandbox with the tree at head; it belongs to the agent, which may change its tests.
        suite_path: Where the candidate suite is written.
        mutants: Those of the changed lines.
        baseline: What the existing tests cover; its green tests count together with the suite's passing ones.
        known: Verdicts of the existing tests on the mutants, if they were judged already.
    """

    def __init__(
        self,
        box: Sandbox,
        target: Target,
        suite_path: str,
        mutants: MutantSet,
        baseline: Baseline,
        known: Mapping[str, MutantVerdict] | None = None,
    ) -> None:
        self.box = box
        self.target = target
        self.suite_path = suite_path
        self.mutants = mutants
        self.baseline = baseline
        self.mutant_numbers = {mutant.id: number for number, mutant in enumerate(mutants.mutants, 1)}
        self.fresh_runs = 0
        self._source = box.read(target.path)
        self._paths = box.files()
        self._surroundings = 0
        self._runs: dict[tuple[str, int], SuiteRun] = {}
        self._mutations: dict[tuple[str, int], MutationResult] = {}
        self._verdicts = Verdicts(box, target, mutants, baseline, known)

    # ------------------------------------------------------------ the suite and what may be written

    def suite(self) -> str:
        """Return the suite's text; empty if there is none."""
        try:
            return self.box.read(self.suite_path).decode("utf-8", "replace")
        except FileNotFoundError:
            return ""

    def write(self, path: str, text: str) -> None:
        """Write a file of the tree. Raises UnicodeEncodeError, SandboxError or OSError."""
        self.box.write(path, text.encode("utf-8"))
        if posixpath.normpath(path) != self.suite_path:
            self._surroundings += 1

    def refusal(self, path: str) -> str:
        """Return why a path cannot be written, links resolved; empty if it can.

        Tests are below the suite's directory, in a directory named `tests` or `test`, or a `conftest.py`.
        """
        if posixpath.normpath(path) == self.suite_path:
            return ""
        inside = self._resolved(path)
        if inside is None or inside == ".." or inside.startswith("../"):
            return f"{path} lies outside the repository"
        if inside == self.target.path:
            return f"{path} is the file under test; only tests can be changed"
        directory = posixpath.dirname(self.suite_path)
        own = directory and not self.target.path.startswith(f"{directory}/")
        if own and inside.startswith(f"{directory}/"):
            return ""
        *parents, name = inside.split("/")
        if name == "conftest.py" or TEST_DIRECTORIES.intersection(parents):
            return ""
        return f"{path} is not a test file; the suite is {self.suite_path}"

    def absorb_command(self) -> bool:
        """Take in what a command may have changed; return whether the file under test had to be put back."""
        paths = self.box.files()
        if set(paths).symmetric_difference(self._paths) - {self.suite_path}:
            self._surroundings += 1
        self._paths = paths
        try:
            intact = self.box.read(self.target.path) == self._source
        except FileNotFoundError:
            intact = False
        if not intact:
            self.box.write(self.target.path, self._source)
        return not intact

    # ------------------------------------------------------------ what the suite does

    def run(self) -> SuiteRun:
        """Return what running the suite as it stands shows, with coverage of the target. Raises MeasureError."""
        key = self._key()
        if key not in self._runs:
            self.fresh_runs += 1
            self._runs[key] = outcomes.run_tests(self.box, (self.suite_path,), cover=(self.target.path,))
        return self._runs[key]

    def known_run(self) -> SuiteRun | None:
        """Return the run of the suite as it stands, if there was one."""
        return self._runs.get(self._key())

    def known_mutation(self) -> MutationResult | None:
        """Return the verdicts on the mutants by the suite as it stands, if they were asked for."""
        return self._mutations.get(self._key())

    def covered(self) -> Covered | None:
        """Return what the suite and the existing tests cover together; None if it could not be measured."""
        run = self.run()
        own = run.coverage.get(self.target.path)
        before = self.baseline.coverage(self.target)
        file = own or before
        if file is None:
            return None
        lines = file.import_lines & file.statements
        branches = file.import_branches & file.branches
        for coverage, tests in ((own, run.passed), (before, self.baseline.green)):
            if coverage is not None:
                lines |= coverage.lines(tests)
                branches |= coverage.taken(tests)
        return Covered(file, lines, branches)

    def falls_short(self, most: int) -> bool:
        """Whether the suite as it stands, with the existing tests, catches no more than so many mutants.

        Found out on as few mutants as will do. Raises MeasureError.
        """
        known = self.known_mutation()
        return self._verdicts.fall_short(self.run(), most) if known is None else known.caught <= most

    @property
    def untouched(self) -> bool:
        """Whether nothing but the suite has been written to the tree, as far as can be seen."""
        return not self._surroundings

    def mutation(self) -> MutationResult:
        """Return the verdicts on the mutants by the existing tests and the suite's passing tests together.

        Only what has changed since the last time is run; while there is no suite, nothing is. Raises MeasureError.
        """
        if not self.suite():
            return self._verdicts.by_existing_tests()
        key = self._key()
        if key not in self._mutations:
            self._mutations[key] = self._verdicts.judge(self.run(), self.marks())
        return self._mutations[key]

    @property
    def changed_lines(self) -> frozenset[int]:
        """The lines that count as changed: all of them where a whole file is the target."""
        if self.target.whole_file:
            return frozenset(range(1, self.target.source.count("\n") + 2))
        return self.target.changed_lines

    def marks(self) -> Mapping[str, str]:
        """Return a mark of the text behind each test: equal marks, equal test. Keys as `fingerprints.test_name`."""
        text, surroundings = self._key()
        return {name: f"{mark} {surroundings}" for name, mark in fingerprints(text).items()}

    # ------------------------------------------------------------ inside

    def _key(self) -> tuple[str, int]:
        return self.suite(), self._surroundings

    def _resolved(self, path: str) -> str | None:
        """Return the path relative to the tree with every link followed, as only the sandbox can tell."""
        if "\0" in path or path != path.encode("utf-8", "replace").decode():
            return None
        done = self.box.run(["python", "-I", "-S", "-c", _RESOLVE, path], timeout_s=20)
        return done.stdout.removesuffix("\n") if done.exit_code == 0 else None
