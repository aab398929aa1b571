"""`testforge intent`: the author is asked what a function should do where that is not certain."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.commands.options import OFFLINE, Apply, Budget, Json, Model, Sandbox, Seed, outputs, request
from bot.commands.paths import inside
from bot.deliver.terminal import console_on, sentences
from bot.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from bot.domain import Request, Target
    from bot.intent.dialogue import Answer, State
    from bot.intent.inquiry import Inquiry
    from bot.programs.assertions import Assertion
    from bot.workshop import Site

_ANSWERS: dict[str, Answer] = {
    "y": "yes", "yes": "yes", "n": "no", "no": "no", "u": "undefined", "undefined": "undefined", "s": "stop", "stop": "stop",
}  # fmt: skip


def intent(
    function: Annotated[
        str, typer.Argument(metavar="FILE::FUNCTION", help="A function of a Python source file.")
    ],
    model: Model = None,
    sandbox: Sandbox = None,
    questions: Annotated[
        int, typer.Option(min=1, max=20, metavar="N", help="At most so many questions.")
    ] = 3,
    budget: Budget = None,
    seed: Seed = 0,
    apply: Apply = False,
    json_file: Json = None,
) -> None:
    """Ask what a function should do where that is not certain, and keep the answers as tests.

    Each question tells apart what the function could be meant to be: as it stands, as the model writes it from its
    documentation, and slightly changed. Where the code does not do what you approve, the smallest change that does is shown.
    """
    with sentences():
        from bot.changes import project_of
        from bot.deliver import record
        from bot.intent.dialogue import begin, converse

        files = outputs(json_file, None)
        path, _, name = function.partition("::")
        if not name:
            raise UsageError("Name the function too, such as `testforge intent src/text.py::normalise`.")
        root = project_of(Path(path))
        wish = request(root, None, model, sandbox, None, budget, seed)
        place = inside(root, Path(path), (Path(),))
        with _inquiry(wish, place, name) as (inquiry, target, tree):
            console = console_on(stderr=files.takes_stdout)
            author = _Terminal(console, questions)
            console.print(_opening(inquiry))
            state = None
            for state in converse(
                inquiry.pool,
                author,
                questions=questions,
                first=lambda state: next(iter(inquiry.doubts(state)), None),
            ):
                if state.overruled:
                    console.print("  No candidate agrees with all your answers; the last one counts.")
                console.print(f"  {len(state.alive)} of {len(inquiry.candidates)} candidates agree.\n")
            if state is None:
                if not author.asked:
                    console.print(
                        f"{name} leaves nothing to ask: no call that was tried tells its candidates apart."
                    )
                files.write_json(record.dump(_as_json(inquiry, begin(inquiry.pool), place, "")))
                return
            written = _deliver(inquiry, state, target, tree, root, apply, console)
            files.write_json(record.dump(_as_json(inquiry, state, place, written)))


class _Terminal:
    """The person at the terminal."""

    def __init__(self, console: Console, most: int) -> None:
        self._console, self._most = console, most
        self.asked = 0

    def ask(self, assertion: Assertion, number: int) -> Answer:
        """Put a question and read the answer; the end of input is `stop`."""
        self.asked += 1
        self._console.print(f"{number} of at most {self._most}: {question(assertion)}", soft_wrap=True)
        while True:
            sys.stderr.write("yes / no / undefined / stop: ")
            sys.stderr.flush()
            line = sys.stdin.readline() if sys.stdin is not None else ""
            if not line:
                return "stop"
            if line.strip().lower() in _ANSWERS:
                return _ANSWERS[line.strip().lower()]
            self._console.print(
                "Answer yes, no, undefined (it does not matter, or should not be called so), or stop."
            )


def question(assertion: Assertion) -> str:
    """Return an assertion as a question for a person."""
    if assertion.expected is not None and not assertion.call.startswith("not not "):
        return f"should {assertion.call} return {assertion.expected}?"
    return f"should this hold: {assertion.text.removeprefix('assert ')}?"


@contextmanager
def _inquiry(asked: Request, path: str, name: str) -> Iterator[tuple[Inquiry, Target, Site]]:
    """Prepare the repository and give the inquiry with its target and checkout."""
    from bot import changes, repoconfig
    from bot.deliver.progress import listening
    from bot.intent.inquiry import inquire
    from bot.models.client import greet, load
    from bot.programs.functions import find
    from bot.workshop import site, stage

    config = repoconfig.load(changes.configuration(asked.root, None))
    wish = replace(asked, whole_file=path)
    change = changes.read(wish, config)
    if not change.targets:
        raise UsageError(f"{path} holds no code that could be asked about.")
    target = change.targets[0]
    subject = find(target.source, name)
    writer = None if wish.model == OFFLINE else load(wish.model, seed=wish.seed, budget_usd=wish.budget_usd)
    if writer is not None:
        greet(writer)
    with (
        listening(console_on(stderr=True), quiet=False) as tell,
        site(wish, config, change, tell) as place,
    ):
        with stage(tell, "intent", path), place.sandboxes.open(place.tree, place.interpreter) as box:
            found = inquire(box, subject, target.module, writer, seed=wish.seed)
        yield found, target, place


def _opening(inquiry: Inquiry) -> str:
    kinds = [candidate.origin for candidate in inquiry.candidates]
    told = [
        f"{kinds.count('model')} by the model" if "model" in kinds else "",
        f"{kinds.count('mutant')} slight changes of it" if "mutant" in kinds else "",
    ]
    return f"{inquiry.subject.name} as it stands" + "".join(f", {text}" for text in told if text) + ".\n"


def _deliver(
    inquiry: Inquiry, state: State, target: Target, place: Site, root: Path, apply: bool, console: Console
) -> str:
    """Tell what came of the answers, write the approved tests where asked to, and return where they belong."""
    from bot import changes, repoconfig
    from bot.intent.inquiry import difference
    from bot.programs.test_files import as_test
    from bot.select.merging import merge
    from bot.select.placement import place as where

    table = inquiry.pool.table
    wrong = inquiry.contradicted(state)
    for one in wrong:
        console.print(
            f"The code does not do what you approved: {one.text.removeprefix('assert ')}", soft_wrap=True
        )
        console.print(f"  it gives {inquiry.observed(one)}", soft_wrap=True)
    refused = inquiry.refused(state)
    for one in refused:
        console.print(
            f"The code does what you said it should not: {one.text.removeprefix('assert ')}", soft_wrap=True
        )
    wrong = (*wrong, *refused)
    best = inquiry.best(state)
    if wrong and best.origin != "head":
        console.print("The smallest change that agrees with all your answers:\n")
        console.print(difference(inquiry.subject, best, target.path), soft_wrap=True)
    elif wrong:
        console.print("None of the candidates does it; the function has to be written anew.")
    if not state.approved:
        console.print("Nothing was approved, so there is no test to keep.")
        return ""
    content = as_test(inquiry.subject, target.module, [table.assertions[number] for number in state.approved])
    config = repoconfig.load(changes.configuration(root, None))
    spot = where(changes.working_files(place.tree), place.read, target, config)
    if spot.extends:
        merged = merge(place.read(spot.final_path), content)
        path, whole = (spot.final_path, merged.content) if merged else (spot.suite_path, content)
    else:
        path, whole = spot.final_path, content
    if apply:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(whole, "utf-8")
        console.print(f"Wrote {path}.")
    else:
        console.print(f"What you approved, for {path} (--apply writes it):\n")
        console.print(content, soft_wrap=True)
    return str(path)


def _as_json(inquiry: Inquiry, state: State, path: str, written: str) -> dict[str, object]:
    """Return what was asked and what came of it."""
    table = inquiry.pool.table
    best = inquiry.best(state)
    return {
        "schema": 1,
        "path": path,
        "function": inquiry.subject.name,
        "answers": [
            {"assertion": table.assertions[number].text, "answer": answer} for number, answer in state.answers
        ],
        "candidates": len(inquiry.candidates),
        "agree": len(state.alive),
        "contradicted": [one.text for one in inquiry.contradicted(state)],
        "best": {"origin": best.origin, "text": best.text},
        "tests": written or None,
        "cost_usd": inquiry.usage.cost_usd,
    }
