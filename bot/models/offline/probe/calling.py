"""Calls of operations, with arguments from the pools of their parameters."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from . import values
from .programs import Arg, Op, Param, Step
from .surface import Surface

_SAID_AGAIN = 0.5


class Calls:
    """Makes calls.

    Attributes:
        expressions: By a class's name, the expressions that are known to make an object of it.
    """

    def __init__(self, surface: Surface, dice: random.Random) -> None:
        self.surface = surface
        self.random = dice
        self.expressions: dict[str, list[str]] = {}

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

        pools = {p: self.pool(p, 40) for p in op.params}
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
                yield from fresh({p: self.pick(pools[p]) for p in required})
        if op.params:
            for _ in range(budget * 2):
                chosen = {p: self.pick(pools[p]) for p in required}
                for p in options:
                    if pools[p] and self.random.random() < 2.0 / (len(options) + 1):
                        chosen[p] = self.pick(pools[p])
                yield from fresh(chosen)

    def pick(self, pool: list[str]) -> str:
        """Draw a text, the earlier ones more often."""
        return pool[min(self.random.randrange(len(pool)), self.random.randrange(len(pool)))]

    def pick_like(self, param: Param, pool: list[str], given: Sequence[Step]) -> str:
        """Draw a text; one that was said before, such as the key of what was put in, as often as another."""
        said = [
            arg.text
            for step in given
            for arg in step.args
            if arg.param is not None and arg.param.name == param.name
        ]
        if said and not param.star and self.random.random() < _SAID_AGAIN:
            return self.random.choice(said)
        return self.pick(pool)

    def random_call(self, op: Op, receiver: str, given: Sequence[Step] = ()) -> Step:
        """Return a call with arguments drawn from the pools, or said before for a parameter of this name."""
        chosen = {}
        for p in op.params:
            pool = self.pool(p, 12)
            if pool and (p.required or self.random.random() < 0.3):
                chosen[p] = self.pick_like(p, pool, given)
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
                        args.append(Arg(p, self.pick(self.pool(p, 12))))
            elif p.star == "**":
                args.append(Arg(p, chosen[p]))
                other = self.pick(self.pool(p, 40))
                if self.random.random() < 0.5 and other.partition("=")[0] != chosen[p].partition("=")[0]:
                    args.append(Arg(p, other))
            else:
                args.append(Arg(p, chosen[p], p.keyword))
        return tuple(args)

    def pool(self, param: Param, most: int) -> list[str]:
        """Return at most so many texts for a parameter, with expressions for the objects it asks for."""
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
        return values.merged([self.expressions.get(heir.name, []) for heir in heirs])
