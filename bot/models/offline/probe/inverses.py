"""Operations that undo each other, told by their names: tried one after the other, as a round trip."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .outcomes import InvalidCaseError
from .programs import Case, Op
from .search import Search

_WORDS = (
    ("dumps", "loads"), ("dump", "load"), ("encode", "decode"), ("sign", "unsign"), ("pack", "unpack"),
    ("quote", "unquote"), ("escape", "unescape"), ("serialize", "deserialize"), ("serialise", "deserialise"),
    ("compress", "decompress"), ("encrypt", "decrypt"), ("marshal", "unmarshal"), ("zip", "unzip"), ("to", "from"),
    ("format", "parse"), ("unparse", "parse"), ("stringify", "parse"), ("flatten", "unflatten"),
)  # fmt: skip
_CALLS = 24
_CUT_CALLS = 6


class Inverses:
    """Finds pairs among a module's functions, and among the methods of each class."""

    def __init__(self, search: Search) -> None:
        self.search = search

    def try_all(self) -> None:
        """Try each pair as a round trip, and the second of a pair on what the first gave with its end cut off."""
        surface = self.search.surface
        for there, back in _pairs(surface.functions):
            self._try(there, back, [""])
        for owner in surface.owners:
            makers = self.search.making.expressions.get(owner.name, [])[:3]
            for there, back in _pairs([op for op in owner.ops if op.receiver]):
                self._try(there, back, makers, owner.variable)

    def _try(self, there: Op, back: Op, makers: Sequence[str], receiver: str = "") -> None:
        whole = Op(there.subject, _joined(there, back, ""), there.params, there.node, there.receiver)
        cut = Op(there.subject, _joined(there, back, "[:-1]"), there.params, there.node, there.receiver)
        for maker in makers:
            for step in self.search.making.calls(whole, _CALLS, receiver):
                self.search.attempt(Case(whole.subject, self.search.given(maker, receiver), step), keep=True)
            for step in self.search.making.calls(cut, _CUT_CALLS, receiver):
                case = Case(cut.subject, self.search.given(maker, receiver), step)
                if self._is_refused(case):
                    self.search.attempt(case, keep=True)

    def _is_refused(self, case: Case) -> bool:
        try:
            then = self.search.runner.run(case).then
        except InvalidCaseError:
            return False
        return then is not None and then.kind == "raises" and then.deliberate


def _joined(there: Op, back: Op, end: str) -> str:
    return back.form.replace("({*})", f"({there.form}{end})")


def _pairs(ops: Sequence[Op]) -> Iterator[tuple[Op, Op]]:
    """Yield operations with those that undo them, each of these taking one argument at least."""
    by_name = {op.subject.rpartition(".")[2]: op for op in ops if "({*})" in op.form and op.public}
    for name, op in by_name.items():
        for other in _undoing(name):
            back = by_name.get(other)
            required = [p for p in back.params if p.required] if back is not None else []
            if back is not None and back is not op and len(required) == 1:
                yield op, back


def _undoing(name: str) -> Iterator[str]:
    """Yield the names that a function which undoes this one may have."""
    for word, other in _WORDS:
        if name == word or name.endswith("_" + word):
            yield name[: len(name) - len(word)] + other
        if name.startswith(word + "_"):
            yield other + name[len(word) :]
        if len(word) > 4 and name.endswith(word):
            yield name[: len(name) - len(word)] + other
    turned = re.fullmatch(r"(\w+?)_?(?:to_|2)(\w+)", name)
    if turned:
        yield f"{turned[2]}_to_{turned[1]}"
        yield f"{turned[2]}2{turned[1]}"
