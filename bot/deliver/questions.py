"""Questions to the author of a pull request as Markdown: the one comment that asks, and says what was answered."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from bot.deliver.boxes import draw_answers
from bot.deliver.markdown import code, fold, plain

_SHOWN = 30
"""Earlier questions that are listed."""
_STATES = {
    "yes": "yes",
    "no": "no",
    "undefined": "it does not matter",
    "dropped": "closed, for the function has changed",
    "expired": "closed, for nobody answered for a week",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as the comment shows it.

    Attributes:
        name: `Q1`.
        text: Of `put`.
        state: `open`, an answer, or why there is none.
        actor: Who answered.
    """

    name: str
    text: str
    path: str
    state: str = "open"
    actor: str = ""


def put(call: str, predicate: str, expected: str | None) -> str:
    """Return a question about an assertion as a person would put it, in Markdown without its question mark.

    Args:
        call: The call that is made, such as `normalise("  A ")`.
        predicate: What is asked of its value, as an expression over `_`.
        expected: The value that it should equal; None if the predicate is no plain equality.
    """
    if expected is not None and not call.startswith("not not "):
        return f"{code(call)} should return {code(expected)}"
    value = ast.parse(call, mode="eval").body
    whole = ast.unparse(_Value(value).visit(ast.parse(predicate, mode="eval")))
    return f"{code(whole.removeprefix('not not '))} should hold"


def comment(questions: Sequence[Asked]) -> str:
    """Return the comment's text: the open question with its boxes, then those that are closed."""
    closed = [one for one in questions if one.state != "open"]
    parts = ["### What should this code do?"]
    asking = next((one for one in questions if one.state == "open"), None)
    if asking is not None:
        parts += [
            "Tests that are made from code take the code as right. Here that is not certain.",
            f"**{asking.name}.** In {code(asking.path)}, {asking.text}. Is that so?",
            draw_answers(asking.name),
            f"Tick a box, or comment `/testforge yes {asking.name}`, `no {asking.name}` or `undefined {asking.name}`. "
            "The pull request's author and people with write permission can answer. It closes by itself after a week.",
        ]
    else:
        parts.append("There is nothing left to ask. Thank you.")
    if closed:
        rows = "\n".join(_row(one) for one in closed[-_SHOWN:])
        parts.append(fold("Answered and closed", rows) if asking is not None else rows)
    return "\n\n".join(parts)


def _row(one: Asked) -> str:
    who = f", said {plain(one.actor)}" if one.actor else ""
    return f"- **{one.name}.** {one.text}: {_STATES.get(one.state, one.state)}{who}"


class _Value(ast.NodeTransformer):
    """Puts an expression in the place of `_`."""

    def __init__(self, value: ast.expr) -> None:
        self._value = value

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self._value if node.id == "_" else node
