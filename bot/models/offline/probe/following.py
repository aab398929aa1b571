"""Values that cannot be written down, looked into: objects by their views, functions by calls, iterators by their start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .programs import Arg, Case, Step

if TYPE_CHECKING:
    from .search import Search


class Follower:
    """Looks into what cases of a search give."""

    def __init__(self, search: Search) -> None:
        self.search = search

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
        elif callable(value) and not isinstance(value, type):
            name = _free("decorated", case)
            bound = (*case.given, case.when.bound(name))
            # A decorator first: what it makes of a number is looked into no further.
            for texts in (["lambda x: x * 2"], [], ["3"], ["'abc'"], ["[1, 2, 3]"], ["2", "3"], ["{'a': 1}"]):
                args = tuple(Arg(None, text) for text in texts)
                call = Step(name + "({*})", args)
                call.form = name + "(" + ", ".join(texts) + ")"
                call.args = ()
                self.search.attempt(Case(case.subject, bound, call, case.origin))
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

    def _ask(self, case: Case, given: tuple[Step, ...], name: str, value: Any) -> None:
        """Try what a decorator has put on a function, such as `cache_info()`, after two calls of it."""
        for part, thing in sorted(vars(value).items()) if hasattr(value, "__dict__") else ():
            if not part.startswith("_"):
                told = f"{name}.{part}()" if callable(thing) else f"{name}.{part}"
                self.search.attempt(Case(case.subject, given, Step(told), case.origin))


def _free(name: str, case: Case) -> str:
    taken = {step.target for step in case.given}
    while name in taken:
        name = "other_" + name
    return name
