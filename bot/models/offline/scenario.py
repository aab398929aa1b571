"""What the built-in model observed: one small program, its result, and the state it leaves behind."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["value", "approx", "items", "raises", "holds"]


@dataclass(frozen=True, slots=True)
class Then:
    """What an expression gave.

    Attributes:
        kind: `value`: it equals `text`, a Python expression. `approx`: it equals `text` up to rounding.
            `items`: iterating over it gives `text`, a list. `raises`: it raises `type` with `message`.
            `holds`: `text` is a condition that is true, such as `result is cache`.
        text: A Python expression that a person could have written; for `raises`, empty.
        type: For `raises`, the exception's name as the test must spell it; otherwise the value's type name.
        message: For `raises`, `str(exception)`; empty if it says nothing stable.
        warning: The category of a warning that came with it, as the test must spell it; `warned` is its message.
    """

    kind: Kind
    text: str = ""
    type: str = ""
    message: str = ""
    warning: str = ""
    warned: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """An expression evaluated after `when`, and what it gave."""

    expression: str
    then: Then


@dataclass(frozen=True, slots=True)
class Scenario:
    """One behaviour seen in the sandbox, told as given, when, then.

    Attributes:
        subject: Qualified name of the function, method or class that it is about.
        given: Statements before (`cache = Cache(2)`, `cache["a"] = 1`), with names a person would choose.
        when: One expression, or a statement where `is_statement` (such as `del cache["a"]`).
        then: What `when` gave; None for a statement whose effect `checks` tell.
        checks: State looked at afterwards.
        names: Names to import from the module under test.
        imports: Other import lines needed (`import re`).
        args: The literal texts within `when` that are the inputs, by parameter name, in order. Scenarios of one
            `subject` with the same `given` and the same parameter names can share a parametrised table.
        lines: Lines of the module executed by `when`.
        kills: Marks of the small faults it tells from the real code, as `probe/legend.py` has them.
        documented: It was not observed; the documentation says so.
    """

    subject: str
    when: str
    then: Then | None
    given: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    names: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    args: tuple[tuple[str, str], ...] = ()
    is_statement: bool = False
    lines: frozenset[int] = field(default_factory=frozenset)
    kills: tuple[str, ...] = ()
    documented: bool = False

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> Scenario:
        """Read a row as the probe prints it. Raises KeyError or TypeError if it is not one."""
        then = row.get("then")
        return cls(
            subject=row["subject"],
            when=row["when"],
            then=Then(**then) if then else None,
            given=tuple(row.get("given", ())),
            checks=tuple(Check(c["expression"], Then(**c["then"])) for c in row.get("checks", ())),
            names=tuple(row.get("names", ())),
            imports=tuple(row.get("imports", ())),
            args=tuple((name, text) for name, text in row.get("args", ())),
            is_statement=bool(row.get("is_statement", False)),
            lines=frozenset(row.get("lines", ())),
            kills=tuple(row.get("kills", ())),
        )
