"""The Action's inputs, as `action.yml` hands them on: one environment variable each, empty for what was not given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeVar, cast

from bot.errors import UsageError

Number = TypeVar("Number", int, float)

PREFIX = "TESTFORGE_INPUT_"
_SANDBOXES = ("auto", "docker", "process")
_DELIVERIES = ("suggestions", "commit", "stacked-pr")
FailOn = Literal["never", "inconclusive", "suspected-bug", "no-tests"]
_FAIL_ON = ("never", "inconclusive", "suspected-bug", "no-tests")


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a workflow asks for; None leaves it to the repository's configuration.

    Attributes:
        file: For a run by hand: one source file, tested as a whole.
        base: For a run by hand: where the change starts.
        fail_on: What makes the step fail besides testforge's own failures; `inconclusive` includes nothing else.
    """

    token: str = field(default="", repr=False)
    model: str | None = None
    base: str | None = None
    file: str | None = None
    paths: tuple[str, ...] = ()
    max_iterations: int | None = None
    budget_usd: float | None = None
    deliver: str | None = None
    sandbox: str = "auto"
    fail_on: tuple[FailOn, ...] = ()

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Inputs:
        """Return the inputs in a step's environment.

        Raises:
            UsageError: One of them has a wrong value; says which and what it can be.
        """
        given = {
            name.removeprefix(PREFIX).lower(): value.strip()
            for name, value in environment.items()
            if name.startswith(PREFIX) and value.strip()
        }
        fail_on = tuple(given.get("fail_on", "never").replace(",", " ").split())
        for one in fail_on:
            _among("fail-on", one, _FAIL_ON)
        return cls(
            token=given.get("github_token", ""),
            model=given.get("model"),
            base=given.get("base"),
            file=given.get("file"),
            paths=tuple(line.strip() for line in given.get("paths", "").splitlines() if line.strip()),
            max_iterations=_number("max-iterations", given.get("max_iterations"), int),
            budget_usd=_number("budget-usd", given.get("budget_usd"), float),
            deliver=_among("deliver", given.get("deliver"), _DELIVERIES),
            sandbox=_among("sandbox", given.get("sandbox", "auto"), _SANDBOXES) or "auto",
            fail_on=cast("tuple[FailOn, ...]", tuple(one for one in fail_on if one != "never")),
        )


def artefacts(environment: Mapping[str, str]) -> Path:
    """Return the directory for the patch and the report, which a later step can upload."""
    return Path(environment.get("RUNNER_TEMP") or "/tmp") / "testforge"


def _among(name: str, value: str | None, known: tuple[str, ...]) -> str | None:
    if value is not None and value not in known:
        raise UsageError(f"The input {name!r} is {value!r}. It can be {', '.join(known)}.")
    return value


def _number(name: str, value: str | None, kind: Callable[[str], Number]) -> Number | None:
    if value is None:
        return None
    try:
        number: Number | None = kind(value)
    except ValueError:
        number = None
    if number is None or not 0 <= number < 1e9:
        raise UsageError(f"The input {name!r} is {value!r}. It must be a number from 0 up.")
    return number
