"""The nouns of testforge, frozen: what flows down the pipeline (see CONTRIBUTING.md for the story).

Lines are 1-based numbers in a file, paths are POSIX paths relative to the repository's root, times are seconds,
money is USD, and fractions lie between 0 and 1. `None` for a measure means "could not be measured", never 0.
"""

from bot.domain.change import Approved, Change, Earlier, Function, Request, Skipped, Target
from bot.domain.coverage import FileCoverage
from bot.domain.lines import ranges
from bot.domain.mutants import Mutant, MutantOutcome, MutantVerdict, MutationResult, spread
from bot.domain.outcomes import CollectionError, Outcome, SuiteRun, TestResult
from bot.domain.report import CoverageDeltas, Delta, MutationDelta, Progress, RunReport, TargetReport, Usage
from bot.domain.suites import Judgement, Reason, Suite, SuspectedBug

__all__ = [
    "Approved",
    "Change",
    "CollectionError",
    "CoverageDeltas",
    "Delta",
    "Earlier",
    "FileCoverage",
    "Function",
    "Judgement",
    "Mutant",
    "MutantOutcome",
    "MutantVerdict",
    "MutationDelta",
    "MutationResult",
    "Outcome",
    "Progress",
    "Reason",
    "Request",
    "RunReport",
    "Skipped",
    "Suite",
    "SuiteRun",
    "SuspectedBug",
    "Target",
    "TargetReport",
    "TestResult",
    "Usage",
    "ranges",
    "spread",
]
