"""Rows for the reader: one compact JSON line for each chosen case, the most telling first, within the room there is."""

from __future__ import annotations

import builtins
import json
from collections.abc import Sequence
from typing import Any, TextIO

from . import legend
from .outcomes import Then
from .programs import Arg, Case
from .running import Runner

ROOM_CHARACTERS = 37_000


def row_of(case: Case, runner: Runner, told: Sequence[str]) -> dict[str, Any]:
    """Return a case as the row that `Scenario.from_json` reads."""
    outcome = case.outcome
    texts = [*(step.text for step in case.given), case.when.text]
    texts += [check for check, _ in outcome.checks]
    thens = [t for t in [outcome.then, *(t for _, t in outcome.checks)] if t is not None]
    texts += [t.text for t in thens if t.text]
    names: dict[str, None] = {}
    imports: dict[str, None] = {}
    bound = {step.target for step in case.given if step.target} | {"result"}
    for text in texts:
        for name in runner.names.read_by(text):
            origin = runner.names.origin(name) if name not in bound else ""
            if origin == "module":
                names[name] = None
            elif origin == "import":
                imports[runner.names.line(name)] = None
    for then in thens:
        if then.kind == "raises" and "." in then.type:
            imports[_error_import(then)] = None
        elif then.kind == "raises" and then.type in vars(runner.module):
            names[then.type] = None
        if then.warning in vars(runner.module):
            names[then.warning] = None
    row: dict[str, Any] = {"subject": case.subject, "when": case.when.text}
    if outcome.then is not None:
        row["then"] = outcome.then.row()
        if _error_import(outcome.then).startswith("from "):
            row["then"]["type"] = outcome.then.type.rpartition(".")[2]
    if case.given:
        row["given"] = [step.text for step in case.given]
    if outcome.checks:
        row["checks"] = [{"expression": e, "then": t.row()} for e, t in outcome.checks]
    if names:
        row["names"] = sorted(names)
    if imports:
        row["imports"] = sorted(imports)
    if case.when.args:
        row["args"] = [_named(arg, index) for index, arg in enumerate(case.when.args)]
    if case.when.statement:
        row["is_statement"] = True
    row["lines"], row["kills"] = sorted(case.lines), list(told)
    return row


def _error_import(then: Then) -> str:
    """Return the import of an exception of another module: by its name, unless a builtin one has the same."""
    home, _, name = then.type.rpartition(".")
    if then.kind != "raises" or not home or hasattr(builtins, name):
        return f"import {home}"
    return f"from {home} import {name}"


def _named(arg: Arg, index: int) -> list[str]:
    """Return an argument's name and text; of a `**` parameter, the keyword's."""
    if arg.param is None:
        return [f"arg{index}", arg.text]
    if arg.param.star == "**":
        name, _, text = arg.text.partition("=")
        return [name, text]
    return [arg.param.name, arg.text]


def write(rows: Sequence[dict[str, Any]], out: TextIO) -> int:
    """Write the legend and the rows as JSON lines while there is room; return how many rows were written."""
    shown, numbers = legend.encoded([[*map(str, row["lines"]), *row["kills"]] for row in rows])
    told = _line({"legend": shown})
    room = ROOM_CHARACTERS - len(told)
    out.write(told)
    written = 0
    for row, groups in zip(rows, numbers):  # noqa: B905 - Python 3.9 has no strict
        line = _line({**{key: row[key] for key in row if key not in ("lines", "kills")}, "shows": groups})
        if len(line) > room:
            continue
        out.write(line)
        room -= len(line)
        written += 1
    return written


def _line(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=True, separators=(",", ":")) + "\n"
