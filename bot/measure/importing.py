"""Whether a test can import the file under test at all, found out as a test does it: by pytest, conftest.py included."""

from __future__ import annotations

from bot.domain import Target
from bot.measure.outcomes import run_tests
from bot.sandbox import Sandbox

IMPORT_S = 60.0
"""Seconds that the import may take; large libraries need some."""
_ADVICE = "Until it can be imported, no test of it can run."
_MISSING = (
    "If it is a dependency, declare it where the project declares the others, or install it with "
    "`environment: setup:` in .github/testforge.yml."
)


def import_problem(box: Sandbox, target: Target, test_path: str) -> str:
    """Return why no test can import a target, in sentences; empty if one can.

    Args:
        box: A sandbox with the tree.
        target: The file to import.
        test_path: Where tests of it go: a file that does not exist, and does not afterwards.

    Raises:
        MeasureError: The guest gave no result.
    """
    probe = f"import importlib\n\n\ndef test_import():\n    importlib.import_module({target.module!r})\n"
    box.write(test_path, probe.encode())
    try:
        run = run_tests(box, [test_path], timeout_s=2 * IMPORT_S, test_timeout_s=IMPORT_S)
    finally:
        box.remove(test_path)
    red = [result for result in run.results if result.outcome.is_red]
    if red:
        advice = _MISSING if "ModuleNotFoundError" in red[0].message else _ADVICE
        return f"{target.path} cannot be imported: {_sentence(red[0].message)} {advice}"
    if run.crash:
        reason = run.crash.removeprefix("pytest could not start: ").replace(f"{box.tree}/", "")
        return f"pytest does not start in this repository: {_sentence(reason)} Mend that first."
    if run.collection_errors:
        error = run.collection_errors[0]
        return f"pytest cannot collect tests next to {error.path}: {_sentence(error.reason)} Mend that first."
    return ""


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."
