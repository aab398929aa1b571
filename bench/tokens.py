"""What a long run of the agent sends, and how much of it providers find in their caches.

    python -m bench.tokens              counts a run of 25 turns that was recorded (`tapes/long_run`)
    python -m bench.tokens --tape DIR   counts another one that `testforge review --record DIR` left
    python -m bench.tokens --play       plays a run of 25 turns with the loop as it is now, on a file of 10,000 tokens

The run is replayed from its tape: of every call the tokens of its prompt are counted (with the encoding of GPT-4 that
LiteLLM brings along), and those that a provider has read before in the same order from the beginning on, in blocks of
128 from 1,024 on, as OpenAI caches them. Beside it stands the same run with nothing cached, which is what a
conversation costs whose beginning changes from call to call. The exit code is 1 if more than half of the tokens are
uncached. Prices are GPT-4o's.

Seen on 2026-12-01: the recorded run 27 calls, 629,811 tokens of prompts, 92.2% of them found in the cache, 7.8%
uncached; $0.94 instead of $1.66. Seen on 2026-11-30: a played one 27 calls, 903,658 tokens, 10.7% uncached; $1.35
instead of $2.36.

The played run is a program in the model's place: it writes a few tests a turn with the tools, runs them, slips now and
then, and looks at the reports. Everything else is real: the loop, the tools, the sandbox, the file (the standard
library's `statistics`).
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.domain import Request, Usage
from bot.models import Message, Reply, ToolCall, ToolSchema, Traits
from bot.models.cassette import Recorder, Recording
from bot.models.client import price_of
from bot.models.redaction import Redactor
from bot.models.replay import Cassette
from bot.pipeline import review

RECORDED = Path(__file__).parent / "tapes" / "long_run"
TURNS = 25
BLOCK = 128
LEAST = 1_024
MODEL = "gpt-4o"
MOST_UNCACHED = 0.5
PLAYER = "bench/player"
SEED = 20261130


def main(arguments: Sequence[str] | None = None) -> int:
    """Count a run's tokens; see the module for its exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--tape", type=Path, default=RECORDED, help="a recorded run")
    choice.add_argument("--play", action="store_true", help="play a run with the loop as it is now")
    options = parser.parse_args(arguments)
    if not options.play:
        return told(counted(Cassette(options.tape)))
    with tempfile.TemporaryDirectory(prefix="testforge-bench-") as directory:
        tape = Path(directory, "tape")
        play(Path(directory), tape)
        return told(counted(Cassette(tape)))


# ---------------------------------------------------------------- counting


@dataclass(frozen=True)
class Row:
    """One call: tokens of its prompt, those of them that a provider has read before, tokens of its reply."""

    prompt: int
    cached: int
    completion: int


def counted(cassette: Cassette) -> list[Row]:
    """Return a row for every call of a tape."""
    from bot.models.remote import imported

    imported()
    from litellm.litellm_core_utils.default_encoding import (
        encoding,
    )  # it lies beside LiteLLM; nothing is fetched

    sizes = {
        key: len(encoding.encode(json.dumps(part), disallowed_special=()))
        for key, part in cassette.parts.items()
    }
    rows = []
    before: list[list[str]] = []
    for call in cassette.calls:
        if "reply" not in call:
            continue
        parts = [call["tools"], *call["messages"]]  # the order in which a provider reads them
        common = max((_common(parts, each) for each in before), default=0)
        known = sum(sizes[key] for key in parts[:common])
        reply = len(encoding.encode(json.dumps(call["reply"]["tool_calls"]) + call["reply"]["text"]))
        cached = known // BLOCK * BLOCK if known >= LEAST else 0
        rows.append(Row(sum(sizes[key] for key in parts), cached, reply))
        before.append(parts)
    return rows


def told(rows: Sequence[Row]) -> int:
    """Print the figures, and return the exit code."""
    price = price_of(MODEL)
    prompt, cached, completion = (
        sum(getattr(row, name) for row in rows) for name in ("prompt", "cached", "completion")
    )
    longest = max(row.prompt for row in rows)
    uncached = prompt - cached
    print(f"calls                       {len(rows):>12,}")
    print(f"longest prompt              {longest:>12,} tokens")
    print(f"prompt tokens sent          {prompt:>12,}")
    print(f"  found in the cache        {cached:>12,} ({cached / prompt:.1%})")
    print(
        f"  uncached                  {uncached:>12,} ({uncached / prompt:.1%}; at most {MOST_UNCACHED:.0%} wanted)"
    )
    print(f"reply tokens                {completion:>12,}")
    print(f"USD at {MODEL}'s prices     {price.cost(prompt, completion, cached):>12.4f}")
    print(f"USD with nothing cached     {price.cost(prompt, completion):>12.4f}")
    return int(uncached > MOST_UNCACHED * prompt)


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


# ---------------------------------------------------------------- playing


def play(place: Path, tape: Path) -> None:
    """Play a run on a project that is made in a directory, and leave its tape."""
    root = place / "project"
    (root / ".github").mkdir(parents=True)
    (root / "figures.py").write_text(Path(statistics.__file__).read_text("utf-8"), "utf-8")
    (root / ".github/testforge.yml").write_text("mutation:\n  max_mutants: 40\n", "utf-8")
    player = Recording(Player(), SEED, Recorder(tape, Redactor()), Redactor())
    request = Request(
        root, whole_file="figures.py", model=PLAYER, sandbox="process", max_iterations=TURNS + 1, seed=SEED
    )
    report = review(request, _progress, wrap=lambda _: player)
    print(
        f"played on {len((root / 'figures.py').read_text('utf-8')):,} characters of source: {report.reason}",
        file=sys.stderr,
    )


def _progress(progress: Any) -> None:
    print(f"{progress.stage} {progress.state} {progress.text}"[:110], file=sys.stderr)


@dataclass
class Player:
    """A program that behaves as a model does: a few tests a turn, slips, reports; it stops the run when it is over."""

    name: str = PLAYER
    traits: Traits = field(default_factory=lambda: Traits(128_000))
    turn: int = 0

    def complete(self, messages: Sequence[Message], tools: Sequence[ToolSchema] = ()) -> Reply:
        """Return the next turn's reply."""
        if not tools:
            return Reply("ready" if len(messages) == 1 else f"```python\n{_tests(0)}```", usage=Usage(1, 1))
        self.turn += 1
        calls = tuple(
            ToolCall(f"call_{self.turn}_{place}", name, json.dumps(given))
            for place, (name, given) in enumerate(_calls(self.turn), 1)
        )
        if self.turn > TURNS:
            raise KeyboardInterrupt  # what comes after the loop sends nothing
        return Reply("", calls, "tool_calls", Usage(1, 1))


FUNCTIONS = (
    "mean",
    "fmean",
    "median",
    "median_low",
    "median_high",
    "pstdev",
    "pvariance",
    "stdev",
    "variance",
    "mode",
)


def _calls(turn: int) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the calls of one turn."""
    yield (
        "insert_lines",
        {
            "reflection": f"The report still shows lines that nothing reaches. Turn {turn} adds tests for more values, "
            "with expected values worked out by hand.",
            "path": "tests/test_figures.py",
            "after": -1,
            "text": _tests(turn, header=False),
        },
    )
    yield (
        "run_tests",
        {"reflection": "The new tests should pass; if one does not, the value was worked out wrongly."},
    )
    if turn % 2:
        yield "coverage_report", {"reflection": "What is left of the file, changed lines first?"}
    if turn % 5 == 0:
        yield "surviving_mutants", {"reflection": "Which faults does the suite not notice?"}
    if turn % 4 == 0:
        first = 30 * turn
        yield (
            "view_file",
            {
                "reflection": "The branches here decide.",
                "path": "figures.py",
                "first": first,
                "last": first + 80,
            },
        )


def _tests(turn: int, *, header: bool = True) -> str:
    """Return a few tests of a turn; every third turn one of them expects a wrong value."""
    written = ["import pytest\n\nimport figures\n"] if header else [""]
    for place in range(3):
        name = FUNCTIONS[(turn + 3 * place) % len(FUNCTIONS)]
        data = [((turn + 1) * (step + 2) * 7 + place * step) % 23 + 1 for step in range(6 + place)]
        expected = getattr(statistics, name)(data) + (turn % 3 == 2 and place == 0)
        written.append(
            f"\ndef test_{name}_of_the_values_of_turn_{turn}_{place}():\n"
            f"    # The values are those of a small table, so that a person can check the result.\n"
            f"    values = {data}\n    assert figures.{name}(values) == pytest.approx({expected!r})\n"
        )
    return "\n".join(written)


if __name__ == "__main__":
    sys.exit(main())
