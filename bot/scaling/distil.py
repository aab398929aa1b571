"""Training data for a small test generator, made of repositories (CodeRM, section 3.2; METHODS 3.4).

Unsuitable functions are left out with the reason; tests are sampled and run on the right code; an expected value that the
code contradicts is repaired with what it gave, or the test is dropped; and a test that accepts wrong code, slight changes
of the function and a model's wrong versions of it, is dropped unless others of the unit reject that code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from bot.domain import Usage
from bot.models import Model
from bot.programs import calls
from bot.programs.assertions import Assertion
from bot.programs.candidates import Candidate, ask, head, mutants
from bot.programs.functions import Subject
from bot.programs.table import Problem, Table, tabulate
from bot.programs.test_files import as_test
from bot.sandbox import Sandbox

MUTANTS = 30
MOST = 6
"""Assertions of one unit test at most: as many as a person reads."""
LEAST_CAUGHT = 0.5
"""Share of the wrong versions that a unit test must reject; below it, it says too little."""
_HEAD = 0

INSTRUCTION = "Write a pytest file that tests the function `{name}` of the module `{module}`."


@dataclass(frozen=True, slots=True)
class Example:
    """One row of training data, with what speaks for it.

    Attributes:
        repaired: Assertions whose expected value was replaced by what the code gave.
        caught, wrong: Wrong versions that the unit test rejects, of all.
    """

    function: str
    module: str
    prompt: str
    tests: str
    assertions: int
    repaired: int
    caught: int
    wrong: int
    usage: Usage


@dataclass(frozen=True, slots=True)
class Refusal:
    """A function of which no data was made, and why."""

    function: str
    reason: str
    usage: Usage = field(default_factory=Usage)


def distil(
    box: Sandbox, subject: Subject, module: str, model: Model | None, *, samples: int = 4, seed: int = 0
) -> Example | Refusal:
    """Make one example of a function, or say why there is none.

    Args:
        box: An open sandbox with the repository's tree.
        subject: A function that can be asked about (`programs.functions.unsuitable`).
        module: The dotted name of its module.
        model: Who writes tests and other versions; None tries values and takes slight changes for wrong versions.
        samples: How often a model is asked.
        seed: Decides which slight changes are drawn.

    Raises:
        MeasureError: The programs could not be run.
    """
    written = ask(model, subject, samples=samples) if model is not None else None
    usage = written.usage if written else Usage()
    proposed = [one for one, _ in written.assertions] if written else []
    if model is None:
        proposed = [Assertion(call, "_ == None") for call in calls.calls(subject)]
    proposed = list(dict.fromkeys([*calls.documented(subject), *proposed]))
    if not proposed:
        return Refusal(subject.name, "no test was written that calls it", usage)
    versions = [
        head(subject),
        *(written.candidates if written else ()),
        *mutants(subject, limit=MUTANTS, seed=seed),
    ]
    versions = list({one.text: one for one in versions}.values())
    programs = tuple(subject.with_function(one.text) for one in versions)
    (table,) = tabulate(box, [Problem(programs, tuple(proposed), module)])
    right, repaired = _repaired(table, proposed)
    if not right:
        return Refusal(subject.name, "no test holds on the code, and none could be repaired", usage)
    (judged,) = tabulate(box, [Problem(programs, tuple(right), module)])
    wrong = _wrong(judged, versions)
    kept = _least(judged, wrong)
    caught = [number for number in wrong if any(not judged.passes(number, one) for one in kept)]
    if not wrong:
        return Refusal(subject.name, "no call tells a wrong version of it from the right one", usage)
    if len(caught) < LEAST_CAUGHT * len(wrong):
        return Refusal(
            subject.name,
            f"its tests accept wrong code: {len(wrong) - len(caught)} of {len(wrong)} wrong versions pass",
            usage,
        )
    chosen = [judged.assertions[number] for number in kept]
    return Example(
        subject.name,
        module,
        INSTRUCTION.format(name=subject.name, module=module),
        as_test(subject, module, chosen),
        len(chosen),
        sum(one in repaired for one in chosen),
        len(caught),
        len(wrong),
        usage,
    )


def _repaired(table: Table, proposed: Sequence[Assertion]) -> tuple[list[Assertion], set[Assertion]]:
    """Return the assertions that hold on the code, those among them whose value is the code's own, and no doubles."""
    right: dict[Assertion, None] = {}
    repaired: set[Assertion] = set()
    for number, one in enumerate(proposed):
        if table.passes(_HEAD, number):
            right[one] = None
            continue
        cell = table.cells[_HEAD][table.calls.index(one.call)]
        if one.expected is not None and cell.kind == "value" and cell.text is not None:
            mended = Assertion.of_value(one.call, cell.text)
            right[mended] = None
            repaired.add(mended)
    return list(right), repaired


def _wrong(table: Table, versions: Sequence[Candidate]) -> list[int]:
    """Return the versions that some call tells from the code; the others may be as right as it is."""
    own = [(cell.kind, cell.text) for cell in table.cells[_HEAD]]
    return [
        number
        for number in range(1, len(versions))
        if [(cell.kind, cell.text) for cell in table.cells[number]] != own
        or "P" * len(table.assertions) != table.outcomes[number]
    ]


def _least(table: Table, wrong: Sequence[int]) -> list[int]:
    """Return the assertions that reject the most wrong versions, one after another, the simplest of equals first."""
    left = set(wrong)
    kept: list[int] = []
    numbers = range(len(table.assertions))
    while left and len(kept) < MOST:
        number = min(
            numbers,
            key=lambda n: (-sum(not table.passes(one, n) for one in left), len(table.assertions[n].call), n),
        )
        rejected = {one for one in left if not table.passes(one, number)}
        if not rejected:
            break
        kept.append(number)
        left -= rejected
    return sorted(kept)
