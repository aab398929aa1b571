"""What the built-in model knows at a point of the conversation, worked out anew from its messages."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from bot.models.offline import explore, reading, seeding, standing
from bot.models.offline import outline as outlines
from bot.models.offline import style as styles
from bot.models.offline.layout import as_function, canonical
from bot.models.offline.outline import Outline
from bot.models.offline.probe.focus import Focus
from bot.models.offline.reading import Assignment, Covered, Failure, Results, Step, Survivors
from bot.models.offline.scenario import Scenario
from bot.models.offline.selection import worthwhile
from bot.models.offline.style import Style
from bot.models.offline.writing import Rest, Written, write

_FEWEST_TESTS = 40
_LINES_PER_TEST = 25

Key = tuple[tuple[str, ...], str]


@dataclass
class Notebook:
    """The state of the work.

    Attributes:
        scenarios: Everything documented or observed, by what is done.
        dropped: What turned out not to hold in a test.
        contradicted: Documented behaviour that the code does not show; its tests stay for the author to judge.
        rest: Tests of another hand that stay.
        current: The suite's text as it stands.
        written: That suite with its scenarios, if it is this model's.
        explorations: Commands run in the sandbox so far, and how many scenarios the last one showed for the first time.
        observed: How many rows they printed.
        last_words: How the last of them ended, if it showed nothing.
        problem: Why the module cannot be imported.
        refusal: The last write or command, if it could not be done.
        measures: (covered lines, missing branches, killed mutants) each time they were looked at.
        repairs: Runs with failures since the last exploration.
    """

    task: Assignment
    outline: Outline
    style: Style
    scenarios: dict[Key, Scenario] = field(default_factory=dict)
    dropped: set[Key] = field(default_factory=set)
    contradicted: set[Key] = field(default_factory=set)
    rest: Rest = field(default_factory=Rest)
    current: str = ""
    written: Written = field(default_factory=lambda: Written(""))
    explorations: int = 0
    fresh: int = 0
    observed: int = 0
    last_words: str = ""
    problem: str = ""
    refusal: Step | None = None
    results: Results | None = None
    covered: Covered | None = None
    survivors: Survivors | None = None
    measures: list[tuple[int, int, int]] = field(default_factory=list)
    repairs: int = 0

    @classmethod
    def of(cls, task: Assignment, steps: Sequence[Step]) -> Notebook:
        """Go through a conversation from its beginning."""
        outline = outlines.read(task.source)
        book = cls(task, outline, styles.read(task.examples, task.module, task.source))
        book._take_over()
        for step in steps:
            book._note(step)
        return book

    def _take_over(self) -> None:
        """Start from the suite as it stands: this model's own zero-shot suite, or one by another hand."""
        own = seeding.suite(self.task)
        self._add(seeding.scenarios(self.task, self.outline))
        self.current = self.task.suite
        self.results = reading.results(self.task.result)
        failures = self.results.failures if self.results else ()
        if _same(own.content, self.task.suite):
            self.written = own
            self._judge(failures)
        else:
            self.rest = standing.remaining(self.task.suite, failures)

    def _note(self, step: Step) -> None:
        output = step.output or ""
        if step.name in ("write_file", "execute_bash"):
            self.refusal = step if step.refused else None
        if step.refused:
            return
        if step.name == "execute_bash":
            self.explorations += 1
            self.repairs = 0
            self.problem = reading.import_problem(output)
            before = len(self.scenarios)
            found = explore.read(output)
            self._add(found)
            self.observed += len(found)
            self.fresh = len(self.scenarios) - before
            self.last_words = "" if found else reading.last_words(output)
        elif step.name == "write_file":
            self.written = self.compose()
            self.current = str(step.arguments.get("content", ""))
        elif step.name == "run_tests":
            self.results = reading.results(output)
            if self.results and self.results.failures:
                self.repairs += 1
                self._judge(self.results.failures)
        elif step.name == "coverage_report":
            self.covered = reading.coverage(output)
            self._measured()
        elif step.name == "surviving_mutants":
            self.survivors = reading.survivors(output)
            self._measured()

    def _add(self, found: Iterable[Scenario]) -> None:
        for each in found:
            scenario = replace(each, given=tuple(map(as_function, each.given)))
            key = _key(scenario)
            known = self.scenarios.get(key)
            if known is None or (known.documented and _agree(known, scenario)):
                self.scenarios[key] = scenario

    def _measured(self) -> None:
        """Keep the latest measures, one entry for each exploration."""
        covered, survivors = self.covered, self.survivors
        row = (
            covered.lines if covered else 0,
            len(covered.missing_branches) if covered else 0,
            survivors.killed if survivors else 0,
        )
        if len(self.measures) == max(self.explorations, 1):
            self.measures[-1] = row
        else:
            self.measures.append(row)

    def _judge(self, failures: Iterable[Failure]) -> None:
        """Drop what failed; documented behaviour that fails by an assertion stays, it contradicts the code."""
        for failure in failures:
            if "::" not in failure.id:
                self._drop_uncollectable(failure)
                continue
            for scenario in self.written.scenarios_of(failure.id):
                key = _key(scenario)
                if scenario.documented and _is_assertion(failure):
                    self.contradicted.add(key)
                else:
                    self.dropped.add(key)
            if not self.written.scenarios_of(failure.id):
                self.rest = self._without(failure)

    def _without(self, failure: Failure) -> Rest:
        text = "\n\n\n".join(["\n".join(self.rest.imports), *self.rest.blocks])
        return standing.remaining(text, [failure]) if self.rest.blocks else self.rest

    def _drop_uncollectable(self, failure: Failure) -> None:
        """A file that cannot be imported: drop what uses the name at fault, or else everything."""
        text = "\n".join(failure.lines)
        named = re.findall(r"(?:cannot import name|name|attribute|No module named) '([\w.]+)'", text)
        for key, scenario in self.scenarios.items():
            code = "\n".join([*scenario.given, scenario.when, *scenario.names, *scenario.imports])
            if not named or any(re.search(rf"\b{re.escape(name)}\b", code) for name in named):
                self.dropped.add(key)
        self.rest = Rest()

    def compose(self) -> Written:
        """Write the suite from all that is known and holds."""
        held = [s for key, s in self.scenarios.items() if key not in self.dropped and self.concerns(s)]
        limit = _FEWEST_TESTS + len(self.task.source.splitlines()) // _LINES_PER_TEST
        return write(worthwhile(held), self.task.module, self.outline, self.style, self.rest, limit=limit)

    def concerns(self, scenario: Scenario) -> bool:
        """Whether a scenario touches what was changed: a changed line, or the inside of a function that holds one."""
        if self.focus.whole:
            return True
        if scenario.lines:
            return bool(scenario.lines & self.focus.inside)
        return any(scenario.subject in (name, name.rpartition(".")[0]) for name, _, _ in self.task.functions)

    @property
    def focus(self) -> Focus:
        """What was changed, and the functions that hold it."""
        return _focus(self.task.source, self.task.changed)

    @property
    def misses_something(self) -> bool:
        """Whether lines or branches that count are not reached."""
        covered = self.covered
        if covered is None:
            return False
        if self.focus.whole:
            return bool(covered.missing_lines or covered.missing_branches)
        return bool(covered.missing_lines & self.focus.inside)

    @property
    def nothing_left(self) -> bool:
        """Whether the existing tests leave nothing to be shown in what was changed."""
        survivors = self.survivors
        if survivors is None or survivors.survive or not survivors.judged:
            return False
        return not (self.focus.inside & _statement_lines(self.task.source)) - self.task.covered

    @property
    def open_failures(self) -> bool:
        """Whether a test fails that is not meant to be judged by the author."""
        failures = self.results.failures if self.results else ()
        keys = {_key(s) for failure in failures for s in self.written.scenarios_of(failure.id)}
        return bool(keys - self.contradicted) or any("::" not in failure.id for failure in failures)


@lru_cache(maxsize=4096)
def _key(scenario: Scenario) -> Key:
    return tuple(canonical(text) for text in scenario.given), canonical(scenario.when)


@lru_cache(maxsize=8)
def _focus(source: str, changed: frozenset[int] | None) -> Focus:
    """Return what was changed; everything, of a source that does not parse."""
    try:
        return Focus(ast.parse(source), None if changed is None else sorted(changed))
    except (SyntaxError, ValueError):
        return Focus(ast.Module([], []), None)


@lru_cache(maxsize=8)
def _statement_lines(source: str) -> frozenset[int]:
    """Return the lines on which statements start, those without effect left out."""
    nodes = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.stmt))
    silent = (ast.Global, ast.Nonlocal)
    return frozenset(
        node.lineno
        for node in nodes
        if not isinstance(node, silent)
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    )


def _agree(one: Scenario, other: Scenario) -> bool:
    """Whether two scenarios of the same input say the same comes of it."""
    if one.then is None or other.then is None or one.then.kind != other.then.kind:
        return one.then is not None and other.then is not None and one.then.kind == "approx"
    if one.then.kind == "raises":
        return one.then.type == other.then.type
    return one.then.kind == "approx" or _same(one.then.text, other.then.text)


def _same(one: str, other: str) -> bool:
    """Whether two texts are the same Python."""
    if not one.strip() or not other.strip():
        return False
    try:
        return ast.dump(ast.parse(one)) == ast.dump(ast.parse(other))
    except (SyntaxError, ValueError):
        return one.strip() == other.strip()


def _is_assertion(failure: Failure) -> bool:
    text = "\n".join(failure.lines)
    return bool(re.search(r"^E\s+(assert |AssertionError|Failed: DID NOT RAISE)", text, re.MULTILINE))
