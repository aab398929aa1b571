"""Values that cannot be written down, looked into: objects by their views, functions by calls, iterators by their start."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from .contexts import RAISED, is_manager, used
from .programs import Arg, Case, Step

if TYPE_CHECKING:
    from .search import Search


_WAYS = 2
"""By so many cases is looked into functions that one operation gives for the same set of arguments."""


class Follower:
    """Looks into what cases of a search give."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self.ways: dict[tuple[Any, ...], int] = {}

    def is_new_way(self, case: Case, value: Any) -> bool:
        """Whether a case made a function with arguments for other parameters than those before it."""
        if not callable(value) or isinstance(value, type):
            return False
        names = [arg.param.name for arg in case.when.args if arg.param is not None]
        way = (case.when.form, len(case.given), *sorted(names))
        self.ways[way] = self.ways.get(way, 0) + 1
        return self.ways[way] <= _WAYS

    def follow(self, case: Case, value: Any, new: frozenset[Any]) -> None:
        """Look into a value that cannot be written down: bind it to a name and look at its parts.

        What is new about how the value came about is then what the look shows.
        """
        if case.when.target or len(case.given) > 6:
            return
        owner = self.search.surface.owner_of(type(value))
        if owner is not None:
            bound = (*case.given, case.when.bound(_free(owner.variable, case)))
            name = bound[-1].target
            if owner.views:
                shown = Case(case.subject, bound, Step(owner.views[0], receiver=name), case.origin)
                shown.unbound = "" if owner.views[0].startswith(("str(", "repr(")) else name
                kept = self.search.attempt(shown, keep=case.origin == "example" or bool(new))
                if kept is not None:
                    kept.features |= new
        elif is_manager(type(value)):
            self._enter(case, new)
        elif callable(value) and not isinstance(value, type):
            name = _free("decorated", case)
            bound = (*case.given, case.when.bound(name))
            # A decorator first: what it makes of a number is looked into no further.
            for texts in (["lambda x: x * 2"], [], ["3"], ["'abc'"], ["[1, 2, 3]"], ["2", "3"], ["{'a': 1}"]):
                args = tuple(Arg(None, text) for text in texts)
                call = Step(name + "({*})", args)
                call.form = name + "(" + ", ".join(texts) + ")"
                call.args = ()
                kept = self.search.attempt(Case(case.subject, bound, call, case.origin), keep=bool(new))
                if kept is not None:
                    kept.features |= new
                    new = frozenset()
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
            self.search.attempt(Case(case.subject, case.given, step, case.origin), keep=True)

    def _enter(self, case: Case, new: frozenset[Any]) -> None:
        """Try a context manager: what it gives inside, and what an exception inside comes to."""
        when = case.when
        inside = Step(used(when.form, "entered"), when.args, when.op, "", when.receiver, statement=True)
        left = Step(f"with {when.text}:\n    raise {RAISED[0]}", statement=True)
        for step in (inside, left):
            kept = self.search.attempt(Case(case.subject, case.given, step, case.origin), keep=bool(new))
            if kept is not None:
                kept.features |= new
                new = frozenset()

    def _ask(self, case: Case, given: tuple[Step, ...], name: str, value: Any) -> None:
        """Try what a decorator has put on a function, such as `cache_info()`, after two calls of it."""
        for part in sorted(part for part in dir(value) if not part.startswith("_")):
            thing = inspect.getattr_static(value, part, None)
            called = callable(thing) or isinstance(thing, (classmethod, staticmethod))
            told = f"{name}.{part}()" if called else f"{name}.{part}"
            self.search.attempt(Case(case.subject, given, Step(told), case.origin))


def _free(name: str, case: Case) -> str:
    taken = {step.target for step in case.given}
    while name in taken:
        name = "other_" + name
    return name
