"""The search: calls tried one after another, those that show something new kept and varied."""

from __future__ import annotations

import contextlib
import random
import re
from collections.abc import Iterator, Sequence
from typing import Any

from . import inputs, watching
from .focus import Focus
from .outcomes import InvalidCaseError
from .programs import MINED, Arg, Case, Op, Param, Step
from .running import Runner
from .surface import Owner, Surface
from .telling import is_opaque
from .tweaking import Tweaker

_LONGEST_CASE = 280
_LONGEST_MINED = 1400
_FAR_CALLS = 16
_MINED_WEIGHT = 12
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
        self.expressions: dict[str, list[str]] = {}
        self.movers: dict[str, list[Step]] = {}
        self.by_op: dict[str, list[Case]] = {}
        self.tried = 0
        self.tweaker = Tweaker(self.random)
        self.overdue: dict[str, int] = {}
        self.reserves: dict[str, dict[str, Case]] = {}
        self.ticks = Op("clock", "now[0] += {0}", [Param("seconds", None, False)], statement=True)
        self.ticks.params[0].pool = ["1", "2", "5", "10", "100"]

    def reseed(self, seed: object) -> None:
        """Make every random choice from here on follow from this."""
        self.random = self.tweaker.random = random.Random(str(seed))

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
        case.outcome = outcome
        new = case.features - self.known
        near = self.focus.reached(case.lines)
        if near:
            self.hitting.add(case.when.op.subject if case.when.op is not None else case.subject)
        opaque = then is not None and then.kind == "holds" and not then.text
        if opaque and then is not None:
            if new or keep:
                self.known |= new
                with contextlib.suppress(Exception):  # a value may refuse to be looked at in any way
                    self._follow(case, then.value, new)
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

    def _follow(self, case: Case, value: Any, new: frozenset[Any]) -> None:
        """Look into a value that cannot be written down: bind it to a name and look at its parts.

        What is new about how the value came about is then what the look shows.
        """
        if case.when.target or len(case.given) > 6:
            return
        owner = self.surface.owner_of(type(value))
        if owner is not None:
            bound = (*case.given, case.when.bound(self._free(owner.variable, case)))
            name = bound[-1].target
            if owner.views:
                shown = Case(case.subject, bound, Step(owner.views[0], receiver=name), case.origin)
                shown.unbound = "" if owner.views[0].startswith(("str(", "repr(")) else name
                kept = self.attempt(shown, keep=case.origin == "example" or bool(new))
                if kept is not None:
                    kept.features |= new
        elif callable(value) and not isinstance(value, type):
            name = self._free("decorated", case)
            bound = (*case.given, case.when.bound(name))
            # A decorator first: what it makes of a number is looked into no further.
            for texts in (["lambda x: x * 2"], [], ["3"], ["'abc'"], ["[1, 2, 3]"], ["2", "3"], ["{'a': 1}"]):
                args = tuple(Arg(None, text) for text in texts)
                call = Step(name + "({*})", args)
                call.form = name + "(" + ", ".join(texts) + ")"
                call.args = ()
                self.attempt(Case(case.subject, bound, call, case.origin))
                if texts and "lambda" not in texts[0]:
                    self._ask(case, (*bound, call, call), name, value)
        elif hasattr(value, "__next__"):
            step = Step(
                "list(islice(" + case.when.form + ", 5))",
                case.when.args,
                case.when.op,
                "",
                case.when.receiver,
            )
            self.attempt(Case(case.subject, case.given, step, case.origin), keep=True)

    def _ask(self, case: Case, given: tuple[Step, ...], name: str, value: Any) -> None:
        """Try what a decorator has put on a function, such as `cache_info()`, after two calls of it."""
        for part, thing in sorted(vars(value).items()) if hasattr(value, "__dict__") else ():
            if not part.startswith("_"):
                told = f"{name}.{part}()" if callable(thing) else f"{name}.{part}"
                self.attempt(Case(case.subject, given, Step(told), case.origin))

    @staticmethod
    def _free(name: str, case: Case) -> str:
        taken = {step.target for step in case.given}
        while name in taken:
            name = "other_" + name
        return name

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
                for step in self.calls(maker, 80):
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
            made = self.expressions[owner.name] = _varied(found, 12)
            if any(inputs.CLOCK in text for text in made):
                self.movers[owner.name] = [
                    Step(self.ticks.form, (Arg(p, t),), self.ticks, statement=True)
                    for p in self.ticks.params
                    for t in p.pool[:3]
                ]

    def call_everything(self, per_op: int) -> None:
        """Try every function and every operation on every kind of object with its likeliest inputs."""
        for op in self.surface.functions:
            for step in self.calls(op, self._share(op, per_op if op.public else per_op // 2)):
                self.attempt(Case(op.subject, (), step))
        for owner in self.surface.owners:
            for maker in owner.makers:
                for step in self.calls(maker, self._share(maker, per_op // 2)):
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
        makers = self.expressions.get(owner.name, [])[:8]
        if not makers:
            return
        steps = list(self.calls(op, max(4, budget // len(makers)), owner.variable))
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
        movers = self.movers.setdefault(owner.name, [])
        if step.op is not None and not step.op.public and owner.public:
            return
        if len(movers) < 24 and all(step.text != other.text for other in movers):
            movers.append(step)

    def walk_objects(self, rounds: int) -> None:
        """Drive objects through sequences of steps, and look at what each operation does at their end."""
        for owner in self.surface.owners:
            makers = self.expressions.get(owner.name, [])
            movers = self.movers.get(owner.name, [])
            ops = [op for op in owner.ops if op.receiver and self._is_near(op)]
            if not makers or not movers or not ops:
                continue
            for _ in range(rounds):
                maker = makers[min(self.random.randrange(len(makers)), self.random.randrange(len(makers)))]
                given = [Step(maker, target=owner.variable)]
                for _ in range(self.random.randint(1, 4)):
                    mover = self.random.choice(movers)
                    if self.random.random() < 0.5:
                        mover = self._varied_step(mover)
                    given.append(mover)
                op = self.random.choice(ops)
                step = self._random_call(op, owner.variable)
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
            new = self.variant(case)
            if new is not None:
                self.attempt(new)

    # ------------------------------------------------------------ making calls

    def calls(self, op: Op, budget: int, receiver: str = "") -> Iterator[Step]:
        """Yield calls of an operation: plain ones, one argument changed at a time, then pairs of options."""
        required = [p for p in op.params if p.required]
        options = [p for p in op.params if not p.required]
        made: dict[str, None] = {}

        def step(chosen: dict[Param, str]) -> Step:
            args = self._arranged(op, chosen)
            return Step(op.form, args, op, "", receiver or "", op.statement)

        def fresh(chosen: dict[Param, str]) -> Iterator[Step]:
            new = step(chosen)
            if new.text not in made and len(made) < budget:
                made[new.text] = None
                yield new

        pools = {p: self._pool(p, 40) for p in op.params}
        base = {p: pools[p][0] for p in required if pools[p]}
        if len(base) < len(required):
            return
        yield from fresh(base)
        for rank in range(max((len(pools[p]) for p in required), default=0)):
            for p in required:
                if rank < len(pools[p]) and len(made) < budget * 0.5:
                    yield from fresh({**base, p: pools[p][rank]})
        for rank in range(3):
            for p in required:
                if rank < len(p.spare) and len(made) < budget * 0.7:
                    yield from fresh({**base, p: p.spare[rank]})
        for rank in range(4):
            for p in options:
                if rank < len(pools[p]):
                    for head in range(2):
                        first = {q: pools[q][head % len(pools[q])] for q in required}
                        yield from fresh({**first, p: pools[p][rank]})
        if len(required) > 1:
            for _ in range(budget):
                yield from fresh({p: self._pick(pools[p]) for p in required})
        if op.params:
            for _ in range(budget * 2):
                chosen = {p: self._pick(pools[p]) for p in required}
                for p in options:
                    if pools[p] and self.random.random() < 2.0 / (len(options) + 1):
                        chosen[p] = self._pick(pools[p])
                yield from fresh(chosen)

    def _pick(self, pool: list[str]) -> str:
        return pool[min(self.random.randrange(len(pool)), self.random.randrange(len(pool)))]

    def _random_call(self, op: Op, receiver: str) -> Step:
        chosen = {}
        for p in op.params:
            pool = self._pool(p, 12)
            if pool and (p.required or self.random.random() < 0.3):
                chosen[p] = self._pick(pool)
        return Step(op.form, self._arranged(op, chosen), op, "", receiver, op.statement)

    def _arranged(self, op: Op, chosen: dict[Param, str]) -> tuple[Arg, ...]:
        args: list[Arg] = []
        skipped = False
        for p in op.params:
            if p not in chosen:
                skipped = skipped or not p.star
                continue
            if p.star == "*":
                if not skipped:
                    args.append(Arg(p, chosen[p]))
                    if self.random.random() < 0.6:
                        args.append(Arg(p, self._pick(self._pool(p, 12))))
            elif p.star == "**":
                args.append(Arg(p, chosen[p]))
                other = self._pick(self._pool(p, 40))
                if self.random.random() < 0.5 and other.partition("=")[0] != chosen[p].partition("=")[0]:
                    args.append(Arg(p, other))
            else:
                args.append(Arg(p, chosen[p], p.keyword))
        return tuple(args)

    def _pool(self, param: Param, most: int) -> list[str]:
        pool: list[str] = []
        for text in param.pool[: most * 2]:
            if text.startswith("@"):
                pool.extend(self._made(text[1:])[:10])
            else:
                pool.append(text)
        return pool[:most] or param.spare[:most]

    def _made(self, name: str) -> list[str]:
        """Return expressions that give objects of a class or, where it has none, of those derived from it."""
        made = self.expressions.get(name, [])
        wanted = next((owner.cls for owner in self.surface.owners if owner.name == name), None)
        if made or wanted is None:
            return made
        heirs = [o for o in self.surface.owners if wanted in o.cls.__mro__[1:]]
        return inputs.merged([self.expressions.get(heir.name, []) for heir in heirs])

    # ------------------------------------------------------------ variants

    def variant(self, case: Case) -> Case | None:
        """Return a case with one or two things changed, or None where nothing can be."""
        given = list(case.given)
        when = case.when
        if given and self.random.random() < 0.45:
            given = self._varied_given(given)
        else:
            when = self._varied_step(when)
        if self.random.random() < 0.25:
            when = self._varied_step(when)
        new = Case(case.subject, tuple(given), when, "varied" if case.origin in MINED else "")
        new.unbound = case.unbound
        return new

    def _varied_given(self, given: list[Step]) -> list[Step]:
        first = 1 if given[0].target == "now" and len(given) > 1 else 0
        owner = next((o for o in self.surface.owners if given[first].target == o.variable), None)
        dice = self.random.random()
        if owner is not None:
            makers = self.expressions.get(owner.name, [])
            movers = self.movers.get(owner.name, [])
            if dice < 0.3 and makers:
                return [
                    *given[:first],
                    Step(self.random.choice(makers), target=owner.variable),
                    *given[first + 1 :],
                ]
            if dice < 0.6 and movers and len(given) < 6:
                place = self.random.randint(first + 1, len(given))
                return [*given[:place], self._varied_step(self.random.choice(movers)), *given[place:]]
            if dice < 0.7 and len(given) > first + 1:
                place = self.random.randrange(first + 1, len(given))
                return [*given[:place], *given[place + 1 :]]
        place = self.random.randrange(first, len(given))
        given[place] = self._varied_step(given[place])
        return given

    def _varied_step(self, step: Step) -> Step:
        op = step.op
        if op is None or not op.params:
            if not step.args and not step.receiver and not step.statement:
                return Step(self.tweaker.changed(step.form), (), op, step.target)
            return step
        args = list(step.args)
        dice = self.random.random()
        there = {arg.param for arg in args}
        absent = [p for p in op.params if p not in there and p.star != "**"]
        named = "{*}" in step.form
        if named and absent and (dice < 0.3 or not args):
            param = self.random.choice(absent)
            pool = self._pool(param, 60)
            if pool:
                keyword = param.keyword or any(a.keyword for a in args) or param is not self._next(op, args)
                if param.star != "*" or param is self._next(op, args):
                    args.append(Arg(param, self._pick(pool), keyword and not param.star))
                    return step.with_args(tuple(args))
        if not args:
            return step
        place = self.random.randrange(len(args))
        arg = args[place]
        if (
            named
            and dice > 0.93
            and arg.param is not None
            and not arg.param.required
            and (arg.keyword or place == len(args) - 1)
        ):
            del args[place]
        elif dice < 0.6 and arg.param is not None and self._pool(arg.param, 60):
            args[place] = Arg(arg.param, self._pick(self._pool(arg.param, 60)), arg.keyword)
        else:
            args[place] = Arg(arg.param, self.tweaker.changed(arg.text), arg.keyword)
        return step.with_args(tuple(args))

    @staticmethod
    def _next(op: Op, args: list[Arg]) -> Param | None:
        index = len(args)
        return op.params[index] if index < len(op.params) and not op.params[index].keyword else None


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
