"""Context managers as a person uses them: entered, used inside, left, and left by an exception."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

from .programs import Op, Param

INSIDE = "inside"
"""The name to which a `with` statement binds what is looked at."""
RAISED = ["ValueError('inside')", "KeyError('inside')"]
_MOST_OPS = 12


def is_manager(kind: type) -> bool:
    """Whether objects of a class can stand in a `with` statement."""
    enter = inspect.getattr_static(kind, "__enter__", None)
    return callable(enter) and callable(inspect.getattr_static(kind, "__exit__", None))


def operations(name: str, node: Any, ops: Sequence[Op]) -> Iterator[Op]:
    """Yield what can be done with an object of a class by a `with` statement.

    Args:
        name: The class.
        node: The syntax tree of its `__exit__`, where it has one.
        ops: What can be done with the object otherwise: some of it is done inside.
    """
    subject = f"{name}.__exit__"
    yield Op(subject, "with {self}:\n    pass", [], node, name, True)
    error = Param("error", None, False)
    error.pool = list(RAISED)
    yield Op(subject, "with {self}:\n    raise {0}", [error], node, name, True)
    yield Op(f"{name}.__enter__", used("{self}", "entered"), [], node, name, True)
    inside = [op for op in ops if op.public and not op.statement and op.form.startswith("{self}.")]
    for op in inside[:_MOST_OPS]:
        form = used("{self}", op.form.replace("{self}", "entered"))
        yield Op(op.subject, form, op.params, op.node, name, True)


def used(manager: str, expression: str) -> str:
    """Return the form of a statement that looks at an expression within the context."""
    return f"with {manager} as entered:\n    {INSIDE} = {expression}"


def looks_inside(text: str) -> bool:
    """Whether a step is a statement that `used` has made."""
    return text.startswith("with ") and text.rpartition("\n")[2].startswith(f"    {INSIDE} = ")
