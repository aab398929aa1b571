"""An inquiry about one function of a repository: its candidates run, and a pool of questions made of what they gave."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from bot.domain import Usage
from bot.errors import InconclusiveError, UsageError
from bot.intent.dialogue import State, best
from bot.intent.ranking import Pool
from bot.models import Model
from bot.programs import calls
from bot.programs.assertions import Assertion
from bot.programs.candidates import Candidate, ask, head, mutants
from bot.programs.functions import Subject, unsuitable
from bot.programs.table import Problem, Table, tabulate
from bot.sandbox import Sandbox

MUTANTS = 40
"""Slight changes that join the candidates."""
SAMPLES = 8
"""Times that a model is asked for the function and for assertions."""
HEAD = 0
"""The candidate that the function as it stands is."""


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What can be asked about a function, and of whom it tells apart.

    Attributes:
        own: The assertions that candidates are ranked by, as often as samples proposed them: a model's and the
            documentation's, never those made of observed values.
    """

    subject: Subject
    candidates: tuple[Candidate, ...]
    pool: Pool
    own: tuple[int, ...]
    usage: Usage = field(default_factory=Usage)

    def best(self, state: State) -> Candidate:
        """Return the candidate to believe: the best that is left, the function as it stands among equals."""
        ranking = best(self.pool, state, self.own)
        top = ranking[0][1]
        equals = [candidate for candidate, score in ranking if score == top]
        return self.candidates[HEAD if HEAD in equals else equals[0]]

    def contradicted(self, state: State) -> tuple[Assertion, ...]:
        """Return the approved assertions that the function as it stands does not pass: bugs that the author confirmed."""
        table = self.pool.table
        return tuple(table.assertions[number] for number in state.approved if not table.passes(HEAD, number))

    def refused(self, state: State) -> tuple[Assertion, ...]:
        """Return what the author said no to and the function as it stands does: bugs, too, without a test that shows them."""
        table = self.pool.table
        said = [number for number, answer in state.answers if answer == "no"]
        return tuple(table.assertions[number] for number in said if table.passes(HEAD, number))

    def doubts(self, state: State) -> tuple[int, ...]:
        """Return what the documentation says and the function as it stands does not do, as far as it was not asked about."""
        table = self.pool.table
        if HEAD not in state.alive:
            return ()
        said = [
            table.assertions.index(one) for one in calls.documented(self.subject) if one in table.assertions
        ]
        return tuple(
            number for number in said if number not in state.asked and not table.passes(HEAD, number)
        )

    def observed(self, assertion: Assertion) -> str:
        """Return what the function as it stands gives for a call: the value, or how it ends."""
        cell = self.pool.table.cells[HEAD][self.pool.table.calls.index(assertion.call)]
        if cell.kind == "value":
            return cell.text or "a value that cannot be written down"
        return f"{cell.text or 'an exception'} raised" if cell.kind == "raised" else "no result in time"


def inquire(
    box: Sandbox,
    subject: Subject,
    module: str,
    model: Model | None,
    *,
    samples: int = SAMPLES,
    seed: int = 0,
    purpose: str = "",
) -> Inquiry:
    """Run a function's candidates and return what can be asked about it.

    Args:
        box: An open sandbox with the repository's tree.
        subject: The function.
        module: The dotted name of its module.
        model: Who writes candidates and assertions; None leaves that to slight changes and to the documentation.
        samples: How often a model is asked.
        seed: Decides which slight changes are drawn.
        purpose: What the change that touches it is for, in its author's words.

    Raises:
        UsageError: The function cannot be asked about; says why.
        InconclusiveError: It gives no value for any call that was tried, or another one each time.
    """
    reason = unsuitable(subject)
    if reason:
        raise UsageError(f"{subject.name} cannot be asked about: it {reason}.")
    written = ask(model, subject, samples=samples, purpose=purpose) if model is not None else None
    others = [*(written.candidates if written else ()), *mutants(subject, limit=MUTANTS, seed=seed)]
    candidates = _distinct([head(subject), *others])
    proposed = dict(written.assertions) if written else {}
    for one in calls.documented(subject):
        proposed[one] = proposed.get(one, 0) + 1
    tried = [Assertion(call, "_ == None") for call in calls.calls(subject)]
    assertions = list(dict.fromkeys([*proposed, *tried]))
    programs = tuple(subject.with_function(candidate.text) for candidate in candidates)
    problem = Problem(programs, tuple(assertions), module)
    (table,) = tabulate(box, [problem])
    unsteady = _unsteady(box, problem, table)
    if unsteady:
        proposed = {one: count for one, count in proposed.items() if one.call not in unsteady}
        table = table.only([n for n, one in enumerate(assertions) if one.call not in unsteady])
        if not table.calls:
            raise InconclusiveError(
                f"{subject.name} gives another result each time that it is called, so there is nothing to ask."
            )
    if not any(cell.kind == "value" for cell in table.cells[HEAD]):
        raise InconclusiveError(
            f"{subject.name} gave no value for any of {len(table.calls)} calls, so there is nothing to ask. "
            "Examples in its docstring (`>>> call`, with the value below) show how it is called."
        )
    # What was only tried for its value is no proposal: the values that came of it are.
    whole = table.only(range(len(proposed)), all_calls=True).with_observed()
    votes = (*proposed.values(), *[0] * (len(whole.assertions) - len(proposed)))
    own = [number for number, count in enumerate(proposed.values()) for _ in range(count)]
    pool = Pool(whole, tuple(candidate.weight for candidate in candidates), votes)
    return Inquiry(subject, candidates, pool, tuple(own), written.usage if written else Usage())


def _unsteady(box: Sandbox, problem: Problem, table: Table) -> frozenset[str]:
    """Return the calls for which the function as it stands gives something else when hashes and random numbers are others."""
    (again,) = tabulate(box, [replace(problem, programs=problem.programs[: HEAD + 1])], seed=1)
    pairs = zip(table.calls, table.cells[HEAD], again.cells[HEAD], strict=True)
    return frozenset(call for call, cell, other in pairs if cell != other)


def difference(subject: Subject, candidate: Candidate, path: str) -> str:
    """Return the smallest change of lines from the function as it stands to a candidate, as a unified diff."""
    before, after = (
        text.splitlines(keepends=True) for text in (subject.source, subject.with_function(candidate.text))
    )
    return "".join(difflib.unified_diff(before, after, f"a/{path}", f"b/{path}", n=2))


def _distinct(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Return the candidates without repetitions; a model's that says what the head says adds to its weight."""
    found: dict[str, Candidate] = {}
    for one in candidates:
        known = found.get(one.text)
        found[one.text] = (
            one if known is None else Candidate(known.text, known.origin, known.weight + one.weight)
        )
    return tuple(found.values())
