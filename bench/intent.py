"""TiCoder's tables on cached generations: `python -m bench.intent --problems F --candidates F --tests F`.

The author is played by the reference: it says yes to what it passes, no to what it fails, and undefined where it raises
or does not end. pass@1@m is the chance that the candidate ranked first after m questions is right, ties averaged;
accept@m the share of problems in which one of m questions was answered with yes. A problem whose questions run out keeps
its last state. Intervals are 95 %, by bootstrap over problems.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import cases as cached
from bench import curves
from bench.cases import Case, fraction_right
from bot.intent.dialogue import Answer, State, begin, best, next_question
from bot.intent.ranking import Order, Pool
from bot.programs.bare import bare_sandbox

GENERATIONS = 50
"""The pool is the first assertion of so many generations, as in the published numbers."""
_BOOTSTRAP = 1000


@dataclass(frozen=True, slots=True)
class Setting:
    """A way to ask: what the pool holds, and in which order."""

    name: str
    order: Order
    mutants: bool


SETTINGS = (
    Setting("discriminative", "discriminative", True),
    Setting("without mutants", "discriminative", False),
    Setting("random", "random", True),
    Setting("ideal", "ideal", True),
)


@dataclass(frozen=True, slots=True)
class Curve:
    """By problem and number of questions: the chance that the first candidate is right, and whether one was accepted."""

    setting: str
    right: tuple[tuple[float, ...], ...]
    accepted: tuple[tuple[bool, ...], ...]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables, and write the curves where that is asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.intent", description=(__doc__ or "").partition("\n")[0]
    )
    cached.add_options(parser)
    parser.add_argument(
        "--questions", type=int, default=5, metavar="M", help="at most M questions (default 5)"
    )
    parser.add_argument("--generations", type=int, default=GENERATIONS, metavar="N")
    parser.add_argument(
        "--check", type=int, metavar="N", help="run N pairs once more, each in a process of its own"
    )
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="write intent.md, intent.json and the curves there"
    )
    options = parser.parse_args(arguments)
    cases = cached.load(options)
    found = [simulate(cases, setting, options.questions, options.generations) for setting in SETTINGS]
    text = table(found, options.questions)
    sys.stdout.write(text)
    if options.check:
        with bare_sandbox(options.sandbox) as box:
            number, different = cached.agreement(options, box, options.check)
        sys.stdout.write(
            f"\n{number - len(different)} of {number} pairs gave the same in a process of their own\n"
        )
        sys.stdout.writelines(f"  {line}\n" for line in different)
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "intent.md").write_text(text + cached.printed_by("intent", options), encoding="utf-8")
        data = {curve.setting: [mean(column) for column in zip(*curve.right, strict=True)] for curve in found}
        (options.out / "intent.json").write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
        shown = [
            (curve.setting, [100 * mean(column) for column in zip(*curve.right, strict=True)])
            for curve in found
        ]
        curves.draw(options.out / "intent", shown, "questions", "pass@1 in %", start=0)
        taken = [
            (curve.setting, [100 * mean(list(map(float, c))) for c in zip(*curve.accepted, strict=True)][1:])
            for curve in found
        ]
        curves.draw(options.out / "intent-accept", taken, "questions", "accept in %", start=1)
    return 0


def simulate(cases: Sequence[Case], setting: Setting, questions: int, generations: int) -> Curve:
    """Return a setting's curve over all problems."""
    rows = [_one(case, setting, questions, generations, seed) for seed, case in enumerate(cases)]
    return Curve(setting.name, tuple(right for right, _ in rows), tuple(accepted for _, accepted in rows))


def _one(
    case: Case, setting: Setting, questions: int, generations: int, seed: int
) -> tuple[tuple[float, ...], tuple[bool, ...]]:
    """Hold one dialogue with the reference."""
    firsts = [sample[0] for sample in case.samples[:generations] if sample]
    pool, own = pool_of(case, firsts, setting.mutants)
    reference = case.reference

    def answer(assertion: int) -> Answer:
        match pool.table.outcomes[reference][assertion]:
            case "P":
                return "yes"
            case "F":
                return "no"
        return "undefined"

    state: State = begin(pool)
    right = [top_right(case, pool, state, own)]
    accepted = [False]
    truth = dict(enumerate(case.right))
    for _ in range(questions):
        number = (
            _ideal(pool, state, answer, truth)
            if setting.order == "ideal"
            else next_question(pool, state, setting.order, seed=seed, useful=False)
        )
        if number is not None:
            state = state.answered(pool, number, answer(number))
        right.append(top_right(case, pool, state, own))
        accepted.append(bool(state.approved))
    return tuple(right), tuple(accepted)


def _ideal(pool: Pool, state: State, answer, truth) -> int | None:  # type: ignore[no-untyped-def]
    from bot.intent.ranking import ranked

    return next(iter(ranked(pool, state.alive, state.asked, "ideal", answer=answer, right=truth)), None)


def pool_of(case: Case, firsts: Sequence[int], mutants: bool) -> tuple[Pool, list[int]]:
    """Return the pool of a case's assertions, with those made of observed values or not, and the model's own among them."""
    order = list(dict.fromkeys(firsts))
    small = case.table.only(order)
    votes = [firsts.count(number) for number in order]
    own = list(range(len(order)))
    whole = small.with_observed(programs=len(case.weights)) if mutants else small
    return Pool(whole, case.weights, (*votes, *[0] * (len(whole.assertions) - len(votes)))), own


def top_right(case: Case, pool: Pool, state: State, own: Sequence[int]) -> float:
    """Return the chance that the candidate ranked first is right: the weighted share of right ones among the best."""
    scores = best(pool, state, own)
    if not scores:
        return 0.0
    top = scores[0][1]
    return fraction_right(case, [candidate for candidate, score in scores if score == top])


def table(found: Sequence[Curve], questions: int) -> str:
    """Return the tables as Markdown."""
    head = " | ".join(f"m = {m}" for m in range(questions + 1))
    lines = [
        "pass@1@m in percent, ties averaged, 95 % interval",
        "",
        f"| order | {head} |",
        "|---|" + "--:|" * (questions + 1),
    ]
    for curve in found:
        cells = [_with_interval(list(column)) for column in zip(*curve.right, strict=True)]
        lines.append(f"| {curve.setting} | {' | '.join(cells)} |")
    lines += ["", "accept@m in percent", "", f"| order | {head} |", "|---|" + "--:|" * (questions + 1)]
    for curve in found:
        cells = [
            f"{100 * mean([float(v) for v in column]):.1f}" for column in zip(*curve.accepted, strict=True)
        ]
        lines.append(f"| {curve.setting} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def mean(values: Sequence[float]) -> float:
    """Return the mean; 0 of nothing."""
    return sum(values) / len(values) if values else 0.0


def interval(values: Sequence[float], seed: int = 0) -> tuple[float, float]:
    """Return the 95 % interval of a mean, by bootstrap."""
    generator = random.Random(seed)
    means = sorted(mean(generator.choices(values, k=len(values))) for _ in range(_BOOTSTRAP))
    return means[int(0.025 * _BOOTSTRAP)], means[int(0.975 * _BOOTSTRAP)]


def _with_interval(values: Sequence[float]) -> str:
    low, high = interval(values)
    return f"{100 * mean(values):.1f} ({100 * low:.0f} to {100 * high:.0f})"


if __name__ == "__main__":
    sys.exit(main())
