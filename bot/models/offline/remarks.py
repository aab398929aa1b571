"""What the built-in model says with each call: what the last output showed, and what comes next."""

from __future__ import annotations

from collections.abc import Iterable

from bot.models.offline.notebook import Notebook
from bot.models.offline.reading import Step

SURVIVORS_FIRST = "The change is small; what the existing tests do not notice in it comes first."
NOTHING_LEFT = "The existing tests reach every changed line and notice every fault that was put into them."


def exploring(book: Notebook) -> str:
    """Say why inputs are tried in the sandbox now."""
    if book.explorations == 0:
        results = book.results
        if results is None or not book.current.strip():
            return f"There is no suite yet; inputs for {book.task.module} are tried to see what it does."
        failed = len(results.failures)
        shown = f"{results.passed} tests of the first suite pass and {failed} do not"
        return f"{shown}; next, inputs for {book.task.module} are tried to see what it does."
    parts: list[str] = []
    if book.covered and book.covered.missing_lines:
        parts.append(f"lines {listed(sorted(book.covered.missing_lines))} are not reached")
    elif book.covered and book.covered.missing_branches:
        arrows = (f"{a}->{b if b > 0 else 'exit'}" for a, b in book.covered.missing_branches)
        parts.append(f"branches {listed(arrows)} are not taken")
    if book.survivors and book.survivors.survive:
        parts.append(f"{_count(book.survivors.survive, 'mutant')} survive")
    return f"{' and '.join(parts).capitalize()}; inputs that reach them are looked for next."


def writing(book: Notebook) -> str:
    """Say what is written, and what the last run made necessary."""
    if book.results and book.repairs and book.open_failures:
        ids = [failure.id.partition("::")[2] or failure.id for failure in book.results.failures]
        return f"{listed(ids)} did not hold when run; the suite is written again without what fails."
    if book.explorations == 0:
        return "Nothing can be tried here, so the suite keeps what passes."
    shown = f"The sandbox showed {_count(book.fresh, 'new behaviour')}"
    return f"{shown}; they are written down as tests, cases of one shape as tables."


def measuring(book: Notebook) -> str:
    """Say what the last run showed before it is measured."""
    results = book.results
    if results is None:
        return "The suite's state is known; next is what it leaves uncovered."
    if book.contradicted and results.failures:
        return (
            f"{_count(results.passed, 'test')} pass; {_count(len(results.failures), 'documented example')} "
            "disagree with the code and stay for the author to judge. Next is what is not covered."
        )
    return f"{_count(results.passed, 'test')} pass; next is which lines and branches they leave out."


def finished(book: Notebook) -> str:
    """Sum up."""
    parts = [f"{_count(book.results.passed, 'test')} pass" if book.results else "The suite was written"]
    if book.covered:
        parts.append(f"{book.covered.lines} of {book.covered.of_lines} lines are covered")
    if book.survivors:
        parts.append(f"{book.survivors.killed} of {book.survivors.judged} mutants are killed")
    if book.contradicted:
        parts.append(f"{_count(len(book.contradicted), 'documented example')} disagree with the code")
    if book.explorations and not book.observed:
        why = f" ({book.last_words})" if book.last_words else ""
        parts.append(f"trying inputs showed nothing that could be written down{why}")
    return "; ".join(parts) + "."


def unimportable(module: str, problem: str) -> str:
    """Say that the module cannot be imported."""
    return f"{module} cannot be imported here, so nothing can be observed: {problem}"


def refused(step: Step) -> str:
    """Say that a call could not be done and that the work ends."""
    said = (step.output or "").removeprefix("error: ").strip()
    return f"{step.name} could not be done ({said}), so the suite stays as it is."


def listed(items: Iterable[object], most: int = 6) -> str:
    """Return the first few items, separated by commas, and how many more there are."""
    texts = [str(item) for item in items]
    shown = ", ".join(texts[:most])
    return f"{shown} and {len(texts) - most} more" if len(texts) > most else shown


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
