"""What the built-in model reads in a conversation: its assignment, its own earlier calls and what the tools printed.

Nothing here remembers anything: each reply parses the whole history again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.models import Message

_FIELD = re.compile(r"^(?P<name>[A-Z][A-Za-z ]+): (?P<value>.*)$")
_FENCE = re.compile(r'^(?P<fence>`{3,})(?P<language>\w*)(?: path=(?P<path>".*"))?\s*$')
_FUNCTION = re.compile(r"(?P<name>[\w.<>]+) \((?P<first>\d+)-(?P<last>\d+)\)")
_RANGE = re.compile(r"(\d+)(?:-(\d+))?(\*?)")
_COUNTS = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) errors, (\d+) skipped")
_LINES = re.compile(r": (\d+) of (\d+) lines \(.*?\), (\d+) of (\d+) branches")
_SCORE = re.compile(r"^(\d+) of (\d+) mutants killed or timed out .*?; (\d+) survive")
_MUTANT = re.compile(r"^M\d+ \S+ in (?P<function>\S+), line (?P<line>\d+)$")
_EXIT = re.compile(r"^exit code (-?\d+)$")


@dataclass(frozen=True, slots=True)
class Assignment:
    """The first user message, read.

    Attributes:
        changed: Changed lines; None if the whole file counts as changed.
        functions: Functions that hold changed lines, as (qualified name, first line, last line).
        covered: Lines that existing tests already cover.
        examples: The nearest existing tests, as (path, text).
        suite: The suite as it stands; empty in the seed's conversation.
        result: What running that suite printed.
    """

    path: str
    module: str
    suite_path: str
    python: str
    source: str
    changed: frozenset[int] | None = None
    functions: tuple[tuple[str, int, int], ...] = ()
    covered: frozenset[int] = frozenset()
    examples: tuple[tuple[str, str], ...] = ()
    suite: str = ""
    result: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One tool call of the history with what it printed; `output` is None while there is no answer to it."""

    name: str
    arguments: Mapping[str, Any]
    output: str | None

    @property
    def refused(self) -> bool:
        """Whether the call could not be done."""
        return self.output is not None and self.output.startswith("error: ")


@dataclass(frozen=True, slots=True)
class Failure:
    """A test that did not pass, by node id; for a file that could not be collected the id is its path."""

    id: str
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Results:
    """What `run_tests` printed."""

    passed: int = 0
    failures: tuple[Failure, ...] = ()
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Covered:
    """What `coverage_report` printed; a branch that leaves its function goes to line -1."""

    lines: int
    of_lines: int
    missing_lines: frozenset[int]
    missing_branches: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Survivors:
    """What `surviving_mutants` printed: counts, and each survivor's printed block."""

    killed: int
    judged: int
    survive: int
    blocks: tuple[str, ...]

    @property
    def all_blocks(self) -> tuple[str, ...] | None:
        """The blocks if they tell all survivors; None if there are more than were printed."""
        return self.blocks if len(self.blocks) == self.survive else None


def assignment(messages: Sequence[Message]) -> Assignment | None:
    """Read the first message that describes a target; None if there is none."""
    for message in messages:
        text = _text(message)
        if message.get("role") == "user" and "File under test: " in text:
            return _assignment(text)
    return None


def _assignment(text: str) -> Assignment | None:
    lines = text.splitlines()
    facts: dict[str, str] = {}
    fences: list[tuple[str, str, str]] = []
    heading = ""
    index = 0
    while index < len(lines):
        fence = _FENCE.match(lines[index])
        if fence is None:
            heading = lines[index].strip() or heading
            found = _FIELD.match(lines[index])
            if found and not fences:
                facts.setdefault(found["name"], found["value"].strip())
            index += 1
            continue
        end = next((i for i in range(index + 1, len(lines)) if lines[i] == fence["fence"]), len(lines))
        path = json.loads(fence["path"]) if fence["path"] else ""
        fences.append((heading, path, "\n".join([*lines[index + 1 : end], ""])))
        index = end + 1
    return _from_parts(facts, fences)


def _from_parts(facts: Mapping[str, str], fences: Sequence[tuple[str, str, str]]) -> Assignment | None:
    if not fences or not {"File under test", "Import it as", "Write the tests to"} <= facts.keys():
        return None
    changed = facts.get("Changed lines", "all")
    after = {heading: text for heading, _, text in fences[1:]}
    return Assignment(
        path=facts["File under test"],
        module=facts["Import it as"],
        suite_path=facts["Write the tests to"],
        python=facts.get("Python", ""),
        source=fences[0][2],
        changed=None if changed == "all" else line_numbers(changed),
        functions=tuple(
            (m["name"], int(m["first"]), int(m["last"]))
            for m in _FUNCTION.finditer(facts.get("Functions that hold them", ""))
        ),
        covered=line_numbers(facts.get("Lines that existing tests already cover", "")),
        examples=tuple(
            (path, text) for heading, path, text in fences[1:] if heading.startswith("Nearest existing tests")
        ),
        suite=after.get("The suite as it stands:", ""),
        result=after.get("Its result:", ""),
    )


def line_numbers(text: str) -> frozenset[int]:
    """Read `3-10, 12*` as the lines it names; `none` names none."""
    found: set[int] = set()
    for first, last, _ in _RANGE.findall(text):
        found.update(range(int(first), int(last or first) + 1))
    return frozenset(found)


def steps(messages: Sequence[Message]) -> tuple[Step, ...]:
    """Read the tool calls of a conversation with their outputs, in order."""
    outputs = {m.get("tool_call_id"): _text(m) for m in messages if m.get("role") == "tool"}
    found: list[Step] = []
    for message in messages:
        if message.get("role") != "assistant":
            continue
        for call in message.get("tool_calls") or ():
            found.append(_step(call, outputs))
    return tuple(found)


def _step(call: Mapping[str, Any], outputs: Mapping[Any, str]) -> Step:
    function = call.get("function") or {}
    try:
        arguments = json.loads(function.get("arguments") or "{}")
    except ValueError:
        arguments = {}
    if not isinstance(arguments, dict):
        arguments = {}
    return Step(str(function.get("name", "")), arguments, outputs.get(call.get("id")))


def _text(message: Message) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content if isinstance(part, Mapping))


def tool_names(tools: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """Return the names of the tools that are offered."""
    return frozenset(str((tool.get("function") or {}).get("name", "")) for tool in tools)


def results(output: str) -> Results | None:
    """Read what `run_tests` printed; None if it is something else, such as an error."""
    lines = output.splitlines()
    counts = next((m for m in map(_COUNTS.match, lines) if m), None)
    if counts is None:
        return None
    failures: list[Failure] = []
    cut = False
    for line in lines:
        head, _, rest = line.partition(" ")
        if head in ("FAILED", "ERROR"):
            failures.append(Failure(rest.strip()))
        elif line.startswith("    ") and failures:
            failures[-1] = Failure(failures[-1].id, (*failures[-1].lines, line.strip()))
        elif line.startswith("... ") and line.endswith("failures and errors"):
            cut = True
    return Results(int(counts[1]), tuple(failures), cut)


def coverage(output: str) -> Covered | None:
    """Read what `coverage_report` printed; None if it is something else."""
    counts = _LINES.search(output)
    if counts is None:
        return None
    facts = {
        m["name"]: m["value"] for m in re.finditer(r"^(?P<name>missing \w+): (?P<value>.*)$", output, re.M)
    }
    branches = [
        (int(start), -1 if end == "exit" else int(end))
        for start, end in re.findall(r"(\d+)->(\d+|exit)", facts.get("missing branches", ""))
    ]
    missing = line_numbers(facts.get("missing lines", ""))
    return Covered(int(counts[1]), int(counts[2]), missing, tuple(branches))


def survivors(output: str) -> Survivors | None:
    """Read what `surviving_mutants` printed; None if it is something else."""
    lines = output.splitlines()
    counts = _SCORE.match(lines[0]) if lines else None
    if counts is None:
        return None
    blocks: list[list[str]] = []
    for line in lines[1:]:
        if _MUTANT.match(line):
            blocks.append([line])
        elif blocks:
            blocks[-1].append(line)
    texts = tuple("\n".join(block) for block in blocks)
    return Survivors(int(counts[1]), int(counts[2]), int(counts[3]), texts)


def exit_code(output: str) -> int | None:
    """Read the exit code that `execute_bash` printed; None if the command was killed or refused."""
    found = _EXIT.match(output.partition("\n")[0])
    return int(found[1]) if found else None


def last_words(output: str) -> str:
    """Return how a command ended and what it printed last, in one line; empty for one that ended well in silence."""
    first, _, rest = output.partition("\n")
    lines = [line.strip() for line in rest.splitlines() if line.strip() and not line.startswith("--- ")]
    told = [first.strip(), *([lines[-1][:200]] if lines else [])]
    return "" if exit_code(output) == 0 and not lines else ": ".join(told)


def import_problem(output: str) -> str:
    """Read why a module could not be imported from a command's traceback; empty if that is not what happened."""
    if exit_code(output) in (0, None):
        return ""
    last = output.rstrip().rpartition("\n")[2]
    imported = "import_module" in output or "<frozen importlib" in output or "ImportError" in last
    found = re.match(r"([\w.]*(?:Error|Exception|Exit|Interrupt))\b(.*)", last)
    if found is None or not (imported or "ModuleNotFoundError" in last):
        return ""
    return last[:300]
