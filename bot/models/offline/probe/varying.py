"""Variants of a case: another argument, another object, a step more or less."""

from __future__ import annotations

import random
from collections.abc import Sequence

from .calling import Calls
from .programs import MINED, Arg, Case, Op, Param, Step
from .surface import Surface
from .tweaking import Tweaker


class Variants:
    """Changes one or two things of a case.

    Attributes:
        movers: By a class's name, steps that change an object of it.
    """

    def __init__(self, surface: Surface, calls: Calls, tweaker: Tweaker, dice: random.Random) -> None:
        self.surface = surface
        self.calls = calls
        self.tweaker = tweaker
        self.random = dice
        self.movers: dict[str, list[Step]] = {}

    def of(self, case: Case) -> Case | None:
        """Return a case with one or two things changed, or None where nothing can be."""
        given = list(case.given)
        when = case.when
        if given and self.random.random() < 0.45:
            given = self._varied_given(given)
        else:
            when = self.varied_step(when, given)
        if self.random.random() < 0.25:
            when = self.varied_step(when, given)
        new = Case(case.subject, tuple(given), when, "varied" if case.origin in MINED else "")
        new.unbound = case.unbound
        return new

    def _varied_given(self, given: list[Step]) -> list[Step]:
        first = 1 if given[0].target == "now" and len(given) > 1 else 0
        owner = next((o for o in self.surface.owners if given[first].target == o.variable), None)
        dice = self.random.random()
        if owner is not None:
            makers = self.calls.expressions.get(owner.name, [])
            movers = self.movers.get(owner.name, [])
            if dice < 0.3 and makers:
                return [
                    *given[:first],
                    Step(self.random.choice(makers), target=owner.variable),
                    *given[first + 1 :],
                ]
            if dice < 0.6 and movers and len(given) < 6:
                place = self.random.randint(first + 1, len(given))
                return [*given[:place], self.varied_step(self.random.choice(movers)), *given[place:]]
            if dice < 0.7 and len(given) > first + 1:
                place = self.random.randrange(first + 1, len(given))
                return [*given[:place], *given[place + 1 :]]
        place = self.random.randrange(first, len(given))
        given[place] = self.varied_step(given[place])
        return given

    def varied_step(self, step: Step, given: Sequence[Step] = ()) -> Step:
        """Return a step with one argument added, taken away or changed; after these steps."""
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
            pool = self.calls.pool(param, 60)
            if pool:
                keyword = param.keyword or any(a.keyword for a in args) or param is not self._next(op, args)
                if param.star != "*" or param is self._next(op, args):
                    args.append(Arg(param, self.calls.pick(pool), keyword and not param.star))
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
        elif dice < 0.6 and arg.param is not None and self.calls.pool(arg.param, 60):
            text = self.calls.pick_like(arg.param, self.calls.pool(arg.param, 60), given)
            args[place] = Arg(arg.param, text, arg.keyword)
        else:
            args[place] = Arg(arg.param, self.tweaker.changed(arg.text), arg.keyword)
        return step.with_args(tuple(args))

    @staticmethod
    def _next(op: Op, args: list[Arg]) -> Param | None:
        index = len(args)
        return op.params[index] if index < len(op.params) and not op.params[index].keyword else None
