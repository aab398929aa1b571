"""CodeRM's tables on cached generations: `python -m bench.scaling --problems F --candidates F --tests F`.

Best-of-N by majority vote over unit tests (paper, equation 1) and by CodeT's dual agreement; the quality of the tests as
judges; pass@1 against the number of unit tests by quintile of difficulty; and a budget of tests shared between problems
equally, by equation 2 with true and estimated pass rates, and by the worth of a vote. Intervals are 95 %, by bootstrap.
`--train` fits the estimate of difficulty and writes the weights that are shipped.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from bench import cases as cached
from bench import curves
from bench.cases import Case, fraction_right
from bench.intent import interval, mean
from bot.programs.cached import read_tasks
from bot.scaling import vote
from bot.scaling.allocation import allocate, uncertain_vote
from bot.scaling.difficulty import NAMES, agreement, features
from bot.scaling.network import Network, train
from bot.scaling.quality import Confusion, confusion, single, voted

WEIGHTS = Path(__file__).parent.parent / "bot" / "scaling" / "difficulty.json"
FIRST = 5
"""Samples whose agreement the estimate of difficulty may look at."""
_FOLDS = 5
_REPEATS = 20


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables, write the curves where that is asked for, or train."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.scaling", description=(__doc__ or "").partition("\n")[0]
    )
    cached.add_options(parser)
    parser.add_argument(
        "--train", action="store_true", help="fit the estimate of difficulty and write its weights"
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="write scaling.md and the curves there")
    options = parser.parse_args(arguments)
    cases = cached.load(options)
    rows, rates = _examples(cases, options)
    if options.train:
        _write(train(rows, rates), options, rows, rates)
        return 0
    estimates = _out_of_fold(rows, rates)
    text = "\n".join(
        [
            *_best_of(cases),
            *_quality(cases),
            *_difficulty(rates, estimates),
            *_budgets(cases, rates, estimates),
        ]
    )
    sys.stdout.write(text + "\n")
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "scaling.md").write_text(
            text + "\n" + cached.printed_by("scaling", options), encoding="utf-8"
        )
        sizes = [1, 2, 5, 10, 20, 35, 50, 75, 100]
        shown = [
            (f"quintile {number}", [100 * _voted_rate(part, size) for size in sizes])
            for number, part in enumerate(_quintiles(cases), 1)
        ]
        curves.draw(
            options.out / "scaling", shown, "unit tests (1, 2, 5, 10, 20, 35, 50, 75, 100)", "pass@1 in %"
        )
    return 0


def _best_of(cases: Sequence[Case]) -> list[str]:
    """Return the table of ways to choose one of all candidates."""
    ways: list[tuple[str, Callable[[Case], float]]] = [
        ("random", lambda case: fraction_right(case, range(len(case.weights)))),
        ("any of all", lambda case: float(any(case.right))),
        (
            "majority vote (eq. 1)",
            lambda case: _chosen(case, vote.majority(case.table, case.samples, len(case.weights))),
        ),
        (
            "CodeT, dual agreement",
            lambda case: _chosen(case, vote.dual_agreement(case.table, case.samples, case.weights)),
        ),
    ]
    lines = ["pass@1 in percent, ties averaged", "", "| way | pass@1 | 95 % interval |", "|---|--:|--:|"]
    for name, way in ways:
        values = [way(case) for case in cases]
        low, high = interval(values)
        lines.append(f"| {name} | {100 * mean(values):.1f} | {100 * low:.1f} to {100 * high:.1f} |")
    return lines


def _chosen(case: Case, scores: Sequence[vote.Score]) -> float:
    return fraction_right(case, vote.best(scores))


def _quality(cases: Sequence[Case]) -> list[str]:
    """Return the table of the tests' quality, single and voted."""
    alone, together = Confusion(), Confusion()
    for case in cases:
        results = vote.unit_results(case.table, case.samples, len(case.weights))
        for accepted in single(results):
            alone += confusion(accepted, case.right, case.weights)
        together += confusion(voted(results), case.right, case.weights)
    holds = [
        case.table.passes(case.reference, number)
        for case in cases
        for unit in case.samples
        for number in unit
    ]
    lines = [
        "",
        f"quality of unit tests, in percent; {100 * mean(list(map(float, holds))):.0f} of their assertions hold on the reference",
        "",
        "| | accuracy | F1 | FAR | FRR | FAR, paper's eq. 7 | FRR, paper's eq. 8 |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for name, found in (("single", alone), ("voted", together)):
        values = (found.accuracy, found.f1, found.far, found.frr, found.far_of_paper, found.frr_of_paper)
        lines.append(
            f"| {name} | " + " | ".join("-" if v is None else f"{100 * v:.1f}" for v in values) + " |"
        )
    return lines


def _quintiles(cases: Sequence[Case]) -> list[list[Case]]:
    """Return the cases in five parts, the easiest first."""
    ranked = sorted(cases, key=lambda case: (-fraction_right(case, range(len(case.weights))), case.name))
    return [ranked[len(ranked) * n // 5 : len(ranked) * (n + 1) // 5] for n in range(5)]


def _voted_rate(cases: Sequence[Case], tests: int) -> float:
    """Return pass@1 by vote of a number of unit tests, drawn anew several times."""
    return mean([_with_tests(case, tests, seed) for case in cases for seed in range(_REPEATS)])


def _with_tests(case: Case, tests: int, seed: int) -> float:
    if tests == 0:
        return fraction_right(case, range(len(case.weights)))
    units = [unit for unit in case.samples if unit]
    drawn = random.Random(f"{case.name} {seed}").sample(units, min(tests, len(units)))
    return _chosen(case, vote.majority(case.table, drawn, len(case.weights)))


def _examples(
    cases: Sequence[Case], options: argparse.Namespace
) -> tuple[list[tuple[float, ...]], list[float]]:
    """Return the inputs and observed pass rates that difficulty is learnt from."""
    tasks = read_tasks(options.problems)
    rows, rates = [], []
    for case in cases:
        task = tasks[case.name]
        first = [
            row for row, weight in zip(case.table.cells, case.weights, strict=False) for _ in range(weight)
        ]
        sample = random.Random(case.name).sample(first, min(FIRST, len(first)))
        rows.append(features(_parsable(task.reference), task.function, agreement(sample)))
        rates.append(fraction_right(case, range(len(case.weights))))
    return rows, rates


def _parsable(text: str) -> str:
    ast.parse(text)
    return text


def _out_of_fold(rows: Sequence[tuple[float, ...]], rates: Sequence[float]) -> list[float]:
    """Return each example's estimate by a network that has not seen it."""
    estimates = [0.0] * len(rows)
    for fold in range(min(_FOLDS, len(rows))):
        seen = [n for n in range(len(rows)) if n % _FOLDS != fold] or list(range(len(rows)))
        network = train([rows[n] for n in seen], [rates[n] for n in seen])
        for n in range(fold, len(rows), _FOLDS):
            estimates[n] = network.predict(rows[n])
    return estimates


def _difficulty(rates: Sequence[float], estimates: Sequence[float]) -> list[str]:
    """Return how good the estimates are."""
    off = mean([abs(a - b) for a, b in zip(rates, estimates, strict=True)])
    usual = mean([abs(a - mean(rates)) for a in rates])
    return [
        "",
        f"estimated pass rates, {_FOLDS} folds: off by {off:.3f} on average, against {usual:.3f} for the mean rate; "
        f"rank correlation {_spearman(rates, estimates):.2f}",
    ]


def _budgets(cases: Sequence[Case], rates: Sequence[float], estimates: Sequence[float]) -> list[str]:
    """Return the table of ways to share a budget of unit tests."""
    lines = ["", "pass@1 in percent, a budget of unit tests shared between the problems", ""]
    means = (2, 5, 10, 20)
    lines.append("| shares | " + " | ".join(f"{n} a problem" for n in means) + " |")
    lines.append("|---|" + "--:|" * len(means))
    ways: list[tuple[str, Callable[[int], Sequence[int]]]] = [
        ("equal", lambda n: [n] * len(cases)),
        ("equation 2, true rates", lambda n: allocate(rates, n * len(cases), most=100)),
        ("equation 2, estimated rates", lambda n: allocate(estimates, n * len(cases), most=100)),
        (
            "worth of a vote, true rates",
            lambda n: allocate(rates, n * len(cases), most=100, gain=uncertain_vote),
        ),
        (
            "worth of a vote, estimated rates",
            lambda n: allocate(estimates, n * len(cases), most=100, gain=uncertain_vote),
        ),
    ]
    for name, way in ways:
        cells = []
        for n in means:
            shares = way(n)
            values = [
                mean([_with_tests(case, share, seed) for seed in range(_REPEATS)])
                for case, share in zip(cases, shares, strict=True)
            ]
            cells.append(f"{100 * mean(values):.1f}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def _spearman(left: Sequence[float], right: Sequence[float]) -> float:
    """Return the rank correlation, ties sharing their mean rank."""
    a, b = _ranks(left), _ranks(right)
    am, bm = mean(a), mean(b)
    above = sum((x - am) * (y - bm) for x, y in zip(a, b, strict=True))
    below = (sum((x - am) ** 2 for x in a) * sum((y - bm) ** 2 for y in b)) ** 0.5
    return above / below if below else 0.0


def _ranks(values: Sequence[float]) -> list[float]:
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    place = 0
    while place < len(order):
        last = place
        while last + 1 < len(order) and values[order[last + 1]] == values[order[place]]:
            last += 1
        for index in order[place : last + 1]:
            ranks[index] = (place + last) / 2
        place = last + 1
    return ranks


def _write(
    network: Network, options: argparse.Namespace, rows: Sequence[tuple[float, ...]], rates: Sequence[float]
) -> None:
    data = {
        "about": f"Weights of bot/scaling/difficulty.py, written by `python -m bench.scaling --train` from {len(rows)} "
        f"problems of {options.problems.name}, mean pass rate {mean(rates):.3f}",
        "inputs": NAMES,
        "mean": network.mean,
        "deviation": network.deviation,
        "hidden": network.hidden,
        "output": network.output,
    }
    rounded = json.loads(json.dumps(data), parse_float=lambda text: round(float(text), 6))
    WEIGHTS.write_text(json.dumps(rounded, indent=1) + "\n", encoding="utf-8")
    print(f"wrote {WEIGHTS}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
