"""`testforge rank`: which of several candidates for a function to believe, by tests that nobody has checked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from bot.commands.options import Json, Sandbox, outputs, settings
from bot.deliver.terminal import console_on, sentences
from bot.errors import UsageError

if TYPE_CHECKING:
    from bot.programs.cached import Candidates, Task, Tests
    from bot.programs.table import Problem, Table
    from bot.scaling.ranking import Contest

_LINES = (".jsonl", ".gz", ".json")


def rank(
    candidates: Annotated[
        list[Path], typer.Argument(help="Python files, each a candidate; or one file of JSON lines.")
    ],
    tests: Annotated[
        list[Path],
        typer.Option(
            metavar="FILE", help="Assertions: Python files, each a unit test; or one file of JSON lines."
        ),
    ],
    function: Annotated[
        str | None, typer.Option(metavar="NAME", help="The function; needed with Python files.")
    ] = None,
    problems: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The tasks of JSON lines: prompts and names.")
    ] = None,
    method: Annotated[
        Literal["vote", "codet", "ticoder"],
        typer.Option(
            help="CodeRM's majority vote, CodeT's agreement, or TiCoder: by what a reference would answer."
        ),
    ] = "vote",
    limit: Annotated[float, typer.Option(min=0.01, max=60, metavar="S", help="CPU seconds a test.")] = 0.25,
    questions: Annotated[
        int, typer.Option(min=0, max=20, metavar="N", help="Questions to the reference, with ticoder.")
    ] = 3,
    sandbox: Sandbox = None,
    json_file: Json = None,
) -> None:
    """Rank candidates for a function by tests, each of which may be wrong; every program runs in the sandbox."""
    with sentences():
        from bot.deliver import record
        from bot.programs.bare import bare_sandbox
        from bot.programs.table import tabulate
        from bot.scaling.ranking import contest

        files = outputs(json_file, None)
        tasks, given, asserted = _read(candidates, tests, function, problems)
        names = [name for name in given if name in asserted and name in tasks]
        if not names:
            raise UsageError("No task has candidates, tests and a name. Do the files belong together?")
        contests = {name: contest(tasks[name].function, given[name], asserted[name]) for name in names}
        posed = [_with_reference(contests[name], tasks[name], method) for name in names]
        with bare_sandbox(sandbox or settings().sandbox) as box:
            tables = tabulate(box, posed, limit_s=limit)
        rows = [
            _row(name, contests[name], table, method, questions)
            for name, table in zip(names, tables, strict=True)
        ]
        files.write_json(record.dump({"schema": 1, "method": method, "tasks": rows}))
        labels = [path.name for path in candidates] if tasks.keys() == {""} else []
        console = console_on(stderr=files.takes_stdout)
        for line in _told(rows, labels):
            console.print(line, soft_wrap=True)


def _read(
    candidates: list[Path], tests: list[Path], function: str | None, problems: Path | None
) -> tuple[dict[str, Task], dict[str, Candidates], dict[str, Tests]]:
    """Return tasks, candidates and tests, from JSON lines or from Python files."""
    from bot.programs.cached import Candidates, Task, Tests, read_candidates, read_tasks, read_tests

    for path in (*candidates, *tests, *([problems] if problems else [])):
        if not path.is_file():
            raise UsageError(f"There is no file {str(path)!r}.")
    if any(path.suffix in _LINES for path in candidates):
        if len(candidates) != 1 or len(tests) != 1 or problems is None:
            raise UsageError(
                "JSON lines come as one file of candidates, one of --tests, and one of --problems."
            )
        tasks = read_tasks(problems)
        return tasks, read_candidates(candidates[0], tasks), read_tests(tests[0])
    if function is None:
        raise UsageError("Name the function that the candidates define: --function NAME.")
    programs = tuple(_text(path) for path in candidates)
    asserts = tuple(_text(path) for path in tests)
    return (
        {"": Task("", function)},
        {"": Candidates(programs, (1,) * len(programs))},
        {"": Tests(asserts, tuple((number,) for number in range(len(asserts))))},
    )


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{str(path)!r} cannot be read: {error}.") from None


def _with_reference(given: Contest, task: Task, method: str) -> Problem:
    """Return the problem, with the reference as its last program where it has to answer."""
    from dataclasses import replace

    if method != "ticoder":
        return given.problem
    if not task.reference:
        raise UsageError(
            f"--method ticoder asks a reference, and {task.name or 'these files'} has none. "
            "Use `testforge intent` to answer yourself, or --method vote."
        )
    return replace(given.problem, programs=(*given.problem.programs, task.reference))


def _row(name: str, given: Contest, table: Table, method: str, questions: int) -> dict[str, object]:
    """Return a task's ranking as it is written as JSON."""
    from bot.scaling.ranking import evidence, rank

    asked: list[dict[str, str]] = []
    if method == "ticoder":
        order, asked = _by_dialogue(given, table, questions)
    else:
        order = [
            (score.candidate, score.score)
            for score in rank(given, table, "codet" if method == "codet" else "vote")
        ]
    return {
        "task_id": name,
        "function": given.function,
        "ranking": [
            {"candidate": candidate, "score": score, **evidence(given, table, candidate)}
            for candidate, score in order
        ],
        "questions": asked,
        "unusable_tests": len(given.unusable),
    }


def _by_dialogue(
    given: Contest, table: Table, questions: int
) -> tuple[list[tuple[int, float]], list[dict[str, str]]]:
    """Return the candidates that a reference's answers leave, best first, and what it was asked."""
    from bot.intent.dialogue import begin, best, next_question
    from bot.intent.ranking import Pool

    units = [number for unit in given.samples for number in unit]
    votes = [units.count(number) for number in range(len(table.assertions))]
    whole = table.with_observed(programs=len(given.weights))
    pool = Pool(whole, given.weights, (*votes, *[0] * (len(whole.assertions) - len(votes))))
    state = begin(pool)
    asked = []
    for _ in range(questions):
        number = next_question(pool, state)
        if number is None:
            break
        letter = whole.outcomes[len(given.weights)][number]
        answer = {"P": "yes", "F": "no"}.get(letter, "undefined")
        asked.append({"assertion": whole.assertions[number].text, "answer": answer})
        state = state.answered(pool, number, answer)  # type: ignore[arg-type]
    return [(candidate, float(score)) for candidate, score in best(pool, state, units)], asked


def _told(rows: list[dict[str, object]], labels: list[str]) -> Iterator[str]:
    """Yield the ranking as lines for a person."""
    for row in rows:
        ranking = row["ranking"]
        assert isinstance(ranking, list)
        yield f"{row['task_id'] or row['function']}: {len(ranking)} candidates"
        for question in row["questions"]:  # type: ignore[attr-defined]
            yield f"  asked: {question['assertion'].removeprefix('assert ')}? {question['answer']}"
        for place, entry in enumerate(ranking[:10], 1):
            label = labels[entry["candidate"]] if labels else f"candidate {entry['candidate']}"
            counts = ", ".join(f"{number} {word}" for word, number in entry["assertions"].items())
            yield f"  {place:2}. {label}  score {entry['score']:g}; assertions: {counts or 'none'}"
            for text in entry["fails_first"][:1]:
                yield f"      fails: {text}"
        if len(ranking) > 10:
            yield f"      and {len(ranking) - 10} more; --json FILE has all"
        if row["unusable_tests"]:
            yield f"  {row['unusable_tests']} tests say nothing of {row['function']} or do not parse"
