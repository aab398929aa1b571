"""How projects name what their tests need."""

from __future__ import annotations

FOR_TESTS = (
    *("test", "tests", "testing", "dev", "develop", "development"),
    *("pytest", "unittest", "unittests", "unit"),
)
"""Names of extras, dependency groups and environments for tests, and words of such names."""

_BESIDES = frozenset({"dependencies", "deps", "requires", "requirements", "extras", "extra", "all", "hatch"})


def is_for_tests(name: str) -> bool:
    """Tell whether an extra, a group or an environment of this name is one for tests (`test`, `Dev`, `unit-tests`)."""
    words = set(name.lower().replace("_", "-").replace(".", "-").split("-"))
    return bool(words & set(FOR_TESTS)) and words <= {*FOR_TESTS, *_BESIDES}
