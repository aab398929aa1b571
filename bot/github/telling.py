"""What commands are answered with, as Markdown: help, how a run stands, what a test proves."""

from __future__ import annotations

import ast

from bot.deliver.markdown import code, fenced, fold, length, plain, sendable
from bot.deliver.proposals import Proposal, fault
from bot.deliver.review import Review
from bot.deliver.wording import line_list, on_base, plural

_COMMANDS = (
    ("`/testforge`", "review this pull request now"),
    ("`/testforge status`", "say how the review stands"),
    ("`/testforge stop`", "stop the review that is running"),
    ("`/testforge apply [all, T1 T2]`", "commit the proposed tests, or those, to the head branch"),
    ("`/testforge pr [T1 T2]`", "open a pull request with them into the head branch"),
    ("`/testforge dismiss T3 [why]`", "do not propose that test again"),
    ("`/testforge explain T3`", "show that test, and what it proves"),
    ("`/testforge intent`", "ask what the code should do where that is unclear"),
    ("`/testforge yes Q1`, `no Q1`, `undefined Q1`", "answer such a question"),
    ("`/testforge help`", "show this"),
)
_LONGEST = 60_000
NO_REVIEW = "No tests are proposed for this pull request yet. `/testforge` asks for them."


def usage(unknown: str = "") -> str:
    """Return the list of commands, after a word on one that there is not."""
    rows = "\n".join(f"| {command} | {effect} |" for command, effect in _COMMANDS)
    intro = f"There is no command {code(unknown, 40)}. " if unknown else ""
    return (
        f"{intro}These are the commands; each stands at the start of a line, one a comment.\n\n| | |\n|---|---|\n{rows}\n\n"
        "All but `help`, `status` and `explain` take write permission to this repository; "
        "questions are for the pull request's author too."
    )


def standing(review: Review | None, head: str, running: str) -> str:
    """Return how things stand: what runs, and how the last run ended."""
    parts = [f"{plain(running[:1].upper() + running[1:])}." if running else "Nothing is running."]
    if review is None:
        parts.append(NO_REVIEW if not running else "")
    else:
        parts.append(f"The last run, at {code(review.head[:9])}, ended so: {plain(review.title)}.")
        if review.head != head:
            parts.append(f"The head is {code(head[:9])} now; `/testforge` reviews it.")
    return " ".join(part for part in parts if part)


def explanation(review: Review, test: Proposal) -> str:
    """Return what one test proves, in full, and the test itself."""
    rows = [f"**{test.key}** {code(test.name)} in {code(test.path)} tests {code(test.source)}."]
    if test.cases:
        rows.append(f"- It has {plural(test.cases, 'case')}.")
    if test.approved:
        rows.append(f"- It was {plain(test.approved)}.")
    if test.lines:
        rows.append(
            f"- It covers line{'s' if len(test.lines) > 1 else ''} {line_list(test.lines, 50)}, which nothing before it did."
        )
    if test.kills:
        shown = "".join(f"\n  - {fault(kill)}" for kill in test.kills[:50])
        rows.append(f"- It notices {plural(len(test.kills), 'small fault')} put into the code:{shown}")
    if on_base(test.on_base):
        rows.append(f"- It {on_base(test.on_base)}.")
    if test.runs:
        rows.append(
            f"- It passed in each of {plural(test.runs, 'run')}, alone and with the others, in different orders."
        )
    text = "\n".join(rows)
    written = _written(review, test)
    shown = f"{text}\n\n{fold('The test', fenced(written, 'python'))}" if written else text
    return shown if length(shown) <= _LONGEST else text


def patch(review: Review) -> str:
    """Return the answer where nothing can be committed: the tests as a patch."""
    text = (
        "The head branch is in a fork, where the App cannot commit. Save this patch and run `git apply` with it.\n\n"
        f"{fenced(review.patch, 'diff')}"
    )
    if length(text) <= _LONGEST and sendable(review.patch):
        return text
    return (
        "The head branch is in a fork, where the App cannot commit, and the patch is too large for a comment, "
        "or not in UTF-8."
    )


def _written(review: Review, test: Proposal) -> str:
    """Return the source of a test function; empty where it cannot be found."""
    content = next((file.content for file in review.files if file.path == test.path), b"")
    try:
        source = content.decode("utf-8")
        body: list[ast.stmt] = ast.parse(source).body
    except (UnicodeDecodeError, SyntaxError, ValueError):
        return ""
    found: ast.stmt | None = None
    for part in test.name.split("::"):
        found = next(
            (
                node
                for node in body
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
                and node.name == part
            ),
            None,
        )
        if found is None:
            return ""
        body = found.body if isinstance(found, ast.ClassDef) else []
    assert isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    first = min([found.lineno, *(decorator.lineno for decorator in found.decorator_list)])
    return "\n".join(source.splitlines()[first - 1 : found.end_lineno]) + "\n"
