"""Which existing tests take part when mutants are judged."""

from types import SimpleNamespace

from bot.domain import FileCoverage, Mutant, MutantOutcome, MutantVerdict, MutationResult
from bot.select.proof import witnesses

MUTANT = Mutant("op:0", "a.py", "op", "", 1, 1, 0, 1, "x", "")


def test_a_killer_that_only_imports_the_target_stays_a_witness():
    lines = {
        "test_a.py::test_f": frozenset({1, 3}),
        "test_b.py::test_limit": frozenset(),
        "test_c.py::test_x": frozenset(),
    }
    coverage = FileCoverage("a.py", frozenset({1, 3}), frozenset({1}), lines)
    job = SimpleNamespace(
        baseline=SimpleNamespace(coverage=lambda _: coverage),
        target=None,
        green=tuple(lines),
        placement=SimpleNamespace(final_path="test_a.py"),
        before=MutationResult((MutantVerdict(MUTANT, MutantOutcome.KILLED, "test_b.py::test_limit"),)),
    )
    assert witnesses(job) == ("test_a.py::test_f", "test_b.py::test_limit")
