"""The search: calls tried one after another, those that show something new kept and varied."""

from __future__ import annotations

import contextlib
import random
import re
from collections.abc import Sequence
from typing import Any

from . import values, watching
from .calling import Calls
from .contexts import looks_inside
from .focus import Focus
from .following import Follower
from .outcomes import InvalidCaseError
from .programs import MINED, Arg, Case, Op, Param, Step
from .running import Runner
from .surface import Owner, Surface
from .telling import is_opaque
from .tweaking import Tweaker
from .varying import Variants

_LONGEST_CASE = 280
_LONGEST_MINED = 1400
_FAR_CALLS = 16
_MINED_WEIGHT = 12
_TICKING = 0.4
RESERVED_CASES = 60
_QUOTED = re.compile(r"""'[^']*'|"[^"]*"|\d+""")
OVERDUE_CASES = 3


class Search:
    """Grows a corpus of cases."""

    def __init__(
        self, surface: Surface, runner: Runner, record: watching.Record, focus: Focus, seed: int
    ) -> None:
        self.surface = surface
        self.focus = focus
        for owner in surface.owners:  # what changed lines assign is looked at first
            owner.views[:0] = surface.attributes(owner, focus.assigned)
        self.hitting: set[str] = set()
        self.runner = runner
        self.record = record
        self.random = random.Random(seed)
        self.corpus: list[Case] = []
        self.seen: set[tuple[str, ...]] = set()
        self.known: set[Any] = set()
        self.by_op: dict[str, list[Case]] = {}
        self.tried = 0
        self.tweaker = Tweaker(self.random)
        self.making = Calls(surface, self.random)
        self.variants = Variants(surface, self.making, self.tweaker, self.random)
        self.follower = Follower(self)
        self.overdue: dict[str, int] = {}
        self.reserves: dict[str, dict[str, Case]] = {}
        self.ticks = Op("clock", "now[0] += {0}", [Param("seconds", None, False)], statement=True)
        self.ticks.params[0].pool = ["1", "2", "5", "10", "100"]

    def reseed(self, seed: object) -> None:
        """Make every random choice from here on follow from this."""
        self.random.seed(str(seed))

    # ------------------------------------------------------------ trying

    def attempt(self, case: Case, keep: bool = False) -> Case | None:
        """Run a case; return it if it could be a test and shows something new, and put it in the corpus."""
        case = self.settled(case)
        longest = _LONGEST_MINED if case.origin in MINED else _LONGEST_CASE
        if case.key in self.seen or case.size > longest:
            return None
        self.seen.add(case.key)
        self.tried += 1
        if self.overdue.get(case.subject, 0) >= OVERDUE_CASES:
            return None
        try:
            outcome = self.runner.run(case)
        except InvalidCaseError as error:
            if str(error) == "OverdueError":
                self.overdue[case.subject] = self.overdue.get(case.subject, 0) + 1
            return None
        then = outcome.then
        if outcome.leaves:
            return None
        if then is not None and then.is_accident(case.when.text, not self.focus.whole):
            return None
        if outcome.lazy:  # an iterator that raises when it is iterated over
            step = case.when
            form = f"list({step.form})"
            return self.attempt(
                Case(
                    case.subject, case.given, Step(form, step.args, step.op, "", step.receiver), case.origin
                ),
                keep,
            )
        if then is None and not outcome.checks and case.when.form.startswith("with "):
            return None  # it passes whatever happens inside
        case.outcome = outcome
        new = case.features - self.known
        near = self.focus.reached(case.lines)
        if near:
            self.hitting.add(case.when.op.subject if case.when.op is not None else case.subject)
        opaque = then is not None and then.kind == "holds" and not then.text
        if opaque and then is not None:
            if self.follower.is_new_way(case, then.value) or new or keep:
                self.known |= new
                with contextlib.suppress(Exception):  # a value may refuse to be looked at in any way
                    self.follower.follow(case, then.value, new)
            if not outcome.checks:
                return None
        if not near:
            self.known |= new
            return case if new else None
        if not self.focus.whole and then is not None and is_opaque(then.text, case.when.text):
            return None
        if not new and not keep:
            self._reserve(case)
            return None
        if not self.holds(case):
            return None
        self.known |= case.features
        self.corpus.append(case)
        if case.when.op is not None:
            self.by_op.setdefault(case.when.op.subject, []).append(case)
        return case

    def holds(self, case: Case) -> bool:
        """Whether a case gives the same when it is run as a test would: nobody looks at an object in between."""
        return not self.runner.differs(case, case.outcome, case.steps * 8 + 3000)

    def _reserve(self, case: Case) -> None:
        """Keep a case that took a known way to a new result: tables of data are told apart by results only."""
        subject = case.when.op.subject if case.when.op is not None else case.subject
        kept = self.reserves.setdefault(subject, {})
        result, then = str(case.outcome.key), case.outcome.then
        if (
            then is not None and then.kind == "raises"
        ):  # a message that quotes the input is the same for another
            result = f"{then.type} {_QUOTED.sub('', then.message)}"
        if result not in kept and len(kept) < RESERVED_CASES and case.size < 150:
            kept[result] = case

    def reserved(self) -> list[Case]:
        """Return the cases that showed nothing but a new result."""
        return [case for kept in self.reserves.values() for case in kept.values()]

    @staticmethod
    def settled(case: Case) -> Case:
        """Return the case with the clock that its steps read set first."""
        steps = (*case.given, case.when)
        if any("now[0]" in step.text for step in steps) and not any(step.target == "now" for step in steps):
            settled = Case(case.subject, (Step("[0]", target="now"), *case.given), case.when, case.origin)
            settled.unbound = case.unbound
            return settled
        return case

    # ------------------------------------------------------------ the phases

    def seeds(self, cases: Sequence[Case]) -> None:
        """Run the cases that people wrote."""
        for case in cases:
            self.attempt(case, keep=True)

    def take_over(self, cases: Sequence[Case]) -> None:
        """Run programs of people that reach what was changed; they are varied as other cases are."""
        for case in cases:
            kept = self.attempt(case)
            if kept is not None and kept.when.op is None and kept in self.corpus[-1:]:
                self.by_op.setdefault(kept.subject, []).append(kept)

    def make_objects(self) -> None:
        """Find out how objects of each class are made; remember the simplest expressions that do."""
        for owner in self.surface.owners:
            found: dict[str, tuple[int, frozenset[Any]]] = {}
            for maker in owner.makers:
                for step in self.making.calls(maker, 80):
                    if len(step.text) > 70:
                        continue
                    case = self.settled(Case(owner.name, (), step))
                    try:
                        outcome = self.runner.run(case)
                    except InvalidCaseError:
                        continue
                    if (
                        outcome.then is not None
                        and type(outcome.then.value) is owner.cls
                        and not outcome.leaves
                    ):
                        found.setdefault(step.text, (len(step.text), case.features))
            made = self.making.expressions[owner.name] = _varied(found, 12)
            if any(values.CLOCK in text for text in made):
                self.variants.movers[owner.name] = [
                    Step(self.ticks.form, (Arg(p, t),), self.ticks, statement=True)
                    for p in self.ticks.params
                    for t in p.pool[:3]
                ]

    def call_everything(self, per_op: int) -> None:
        """Try every function and every operation on every kind of object with its likeliest inputs."""
        for op in self.surface.functions:
            for step in self.making.calls(op, self._share(op, per_op if op.public else per_op // 2)):
                self.attempt(Case(op.subject, (), step))
        for owner in self.surface.owners:
            for maker in owner.makers:
                for step in self.making.calls(maker, self._share(maker, per_op // 2)):
                    self.attempt(Case(maker.subject, (), step))
            for op in owner.ops:
                if op.receiver:
                    self._on_objects(owner, op, self._share(op, per_op // 2))

    def _share(self, op: Op, budget: int) -> int:
        """Return how much of a budget an operation gets: the more, the closer it is to what was changed."""
        if self.focus.whole:
            return budget
        if self.focus.holds(op):
            return budget * 2
        near = self.focus.leads(op) or op.subject in self.hitting
        return budget if near else min(budget, _FAR_CALLS)

    def _on_objects(self, owner: Owner, op: Op, budget: int) -> None:
        makers = self.making.expressions.get(owner.name, [])[:8]
        if not makers:
            return
        steps = list(self.making.calls(op, max(4, budget // len(makers)), owner.variable))
        for step in steps:
            for maker in makers:
                given = (Step(maker, target=owner.variable),)
                case = self.attempt(Case(op.subject, given, step))
                if case is not None and self._moves(case):
                    self._remember(owner, step)

    @staticmethod
    def given(maker: str, variable: str) -> tuple[Step, ...]:
        """Return the step that makes an object and binds it; none where nothing is to be made."""
        return (Step(maker, target=variable),) if maker else ()

    @staticmethod
    def _moves(case: Case) -> bool:
        return bool(case.outcome.checks) or case.when.statement

    def _remember(self, owner: Owner, step: Step) -> None:
        movers = self.variants.movers.setdefault(owner.name, [])
        if step.op is not None and not step.op.public and owner.public:
            return
        if looks_inside(step.text):
            return
        if len(movers) < 24 and all(step.text != other.text for other in movers):
            movers.append(step)

    def walk_objects(self, rounds: int) -> None:
        """Drive objects through sequences of steps, and look at what each operation does at their end."""
        for owner in self.surface.owners:
            makers = self.making.expressions.get(owner.name, [])
            movers = self.variants.movers.get(owner.name, [])
            ops = [op for op in owner.ops if op.receiver and self._is_near(op)]
            if not makers or not movers or not ops:
                continue
            ticks = [mover for mover in movers if mover.op is self.ticks]
            for _ in range(rounds):
                maker = makers[min(self.random.randrange(len(makers)), self.random.randrange(len(makers)))]
                given = [Step(maker, target=owner.variable)]
                for _ in range(self.random.randint(1, 4)):
                    mover = self.random.choice(movers)
                    if self.random.random() < 0.5:
                        mover = self.variants.varied_step(mover, given)
                    given.append(mover)
                op = self.random.choice(ops)
                if ticks and self.random.random() < _TICKING:
                    given.append(self.random.choice(ticks))
                step = self.making.random_call(op, owner.variable, given)
                case = self.attempt(Case(op.subject, tuple(given), step))
                if case is not None and self._moves(case):
                    self._remember(owner, step)

    def _is_near(self, op: Op) -> bool:
        return self.focus.leads(op) or op.subject in self.hitting

    def vary(self, budget: int) -> None:
        """Vary cases of the corpus, the recent and short ones more often, for so many attempts.

        A mined program may do much that is not counted, so varying one counts as many attempts.
        """
        if not self.by_op:
            return
        names = sorted(self.by_op)
        while budget > 0:
            if self.random.random() < 0.5:
                case = self.random.choice(self.by_op[self.random.choice(names)])
            else:
                case = self.corpus[int(self.random.random() ** 0.7 * len(self.corpus))]
            budget -= _MINED_WEIGHT if case.origin in MINED else 1
            new = self.variants.of(case)
            if new is not None:
                self.attempt(new)


def _varied(found: dict[str, tuple[int, frozenset[Any]]], most: int) -> list[str]:
    """Return the first texts, the likeliest, then those that show most that the ones before do not, then other ways."""
    chosen = list(found)[:4]
    seen: set[Any] = set().union(*(found[text][1] for text in chosen))
    while len(chosen) < most:
        gains = {text: len(features - seen) for text, (_, features) in found.items() if text not in chosen}
        best = max(gains, key=lambda text: (gains[text], -len(text)), default="")
        if not best or not gains[best]:
            break
        chosen.append(best)
        seen |= found[best][1]
    ways = {found[text][1] for text in chosen}
    for text, (_, features) in found.items():
        if len(chosen) < most and text not in chosen and (features not in ways or len(chosen) < 7):
            chosen.append(text)
            ways.add(features)
    return chosen
