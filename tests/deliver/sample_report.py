"""A run's report with something of everything, for the tests of how it is told."""

from bot.domain import (
    CoverageDeltas,
    Delta,
    Function,
    Judgement,
    Mutant,
    MutantOutcome,
    MutantVerdict,
    MutationDelta,
    MutationResult,
    Reason,
    RunReport,
    Skipped,
    Suite,
    SuspectedBug,
    Target,
    TargetReport,
    Usage,
)

SOURCE = "def price(weight):\n    if weight > 30:\n        return 300\n    return 100\n"
PATH = "src/parcel/quotes.py"
TESTS = "tests/test_quotes.py"
CONTENT = "from parcel.quotes import price\n\n\ndef test_heavy():\n    assert price(31) == 300\n"


def mutant(number: int, before: str = "weight > 30", after: str = "weight >= 30", line: int = 2) -> Mutant:
    diff = f"-    if {before}:\n+    if {after}:"
    return Mutant(f"M{number}", PATH, "core/Compare", "price", line, line, 0, 1, "", diff)


def mutation(*outcomes: MutantOutcome, sampled_from: int = 0) -> MutationResult:
    verdicts = tuple(MutantVerdict(mutant(n), outcome) for n, outcome in enumerate(outcomes, 1))
    return MutationResult(verdicts, sampled_from or len(verdicts))


def target_report(**changes: object) -> TargetReport:
    killed, survived = MutantOutcome.KILLED, MutantOutcome.SURVIVED
    fields: dict[str, object] = {
        "target": Target(
            PATH, "parcel.quotes", SOURCE, frozenset({2, 3}), (Function("price", 1, 2, 4),), "", PATH
        ),
        "status": "proposed",
        "suite": Suite(TESTS, CONTENT),
        "ledger": (
            Judgement(f"{TESTS}::test_heavy", None, "", (3,), ("M1", "M2"), "failed", 3, 0.01),
            Judgement(f"{TESTS}::test_edges[a]", None, "", (), ("M3",), "passed", 3, 0.01),
            Judgement(f"{TESTS}::test_edges[b]", None, "", (4,), (), "passed", 3, 0.01),
            Judgement("tests/test_new.py::test_x", Reason.ADDS_NOTHING),
            Judgement("tests/test_new.py::test_y", Reason.ADDS_NOTHING),
            Judgement("tests/test_new.py::test_z", Reason.FLAKY),
        ),
        "coverage": CoverageDeltas(Delta(0.5, 1.0), Delta(0.0, 1.0), Delta(None, None)),
        "mutation_changed": MutationDelta(
            mutation(survived, survived, survived, survived),
            mutation(killed, killed, killed, survived),
        ),
        "suspected_bugs": (SuspectedBug("tests/test_new.py::test_bug", "price", "raises ValueError", "100"),),
        "red_tests": ("tests/test_old.py::test_broken",),
        "iterations": 4,
        "usage": Usage(1200, 300, 0, 0.25),
    }
    return TargetReport(**{**fields, **changes})  # type: ignore[arg-type]


def run_report(**changes: object) -> RunReport:
    fields: dict[str, object] = {
        "status": "proposed",
        "reason": "",
        "base": "a" * 40,
        "head": None,
        "model": "testforge/offline",
        "sandbox": "process",
        "wall_s": 12.34,
        "usage": Usage(1200, 300, 0, 0.0),
        "targets": (target_report(),),
        "skipped": (Skipped("docs/conf.py", "configures the documentation"),),
    }
    return RunReport(**{**fields, **changes})  # type: ignore[arg-type]
