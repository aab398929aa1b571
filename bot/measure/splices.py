"""What cosmic-ray's standard operators do to a source text, as text splices, from one parse.

cosmic-ray itself parses the file anew for every mutant. Here the operators run over one tree, and each mutation is
undone after its effect has been read off, so that `source[:start] + replacement + source[end:]` is exactly what
`cosmic_ray.mutating.mutate_code` would give.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

# Kinds of tree nodes on which a standard operator can act at all; the operators themselves decide (a test compares
# with `cosmic-ray init`).
_NODE_TYPES = frozenset(
    [
        "comparison",
        "if_stmt",
        "while_stmt",
        "assert_stmt",
        "test",
        "except_clause",
        "decorator",
        "for_stmt",
        "factor",
        "not_test",
    ]
)
_LEAF_TYPES = frozenset(["operator", "keyword", "number"])


@dataclass(frozen=True, slots=True)
class Splice:
    """One mutation: the text `source[start:end]` becomes `replacement`.

    Attributes:
        operator: cosmic-ray's name for the operator, such as `core/NumberReplacer`.
        occurrence: Which of the operator's positions in the file, from 0, as cosmic-ray counts them.
        first, last: Lines that the mutated node occupies.
        crashes: cosmic-ray's operator raises here, so that there is no mutated text.
    """

    operator: str
    occurrence: int
    first: int
    last: int
    start: int
    end: int
    replacement: str
    crashes: bool = False


def splices(source: str) -> tuple[Splice, ...]:
    """Return every mutation that `cosmic-ray init` would list for this text, in its order.

    Args:
        source: The module's text; text that does not parse gives the mutants of what does.
    """
    import parso

    nodes = list(_candidates(parso.parse(source)))
    found = []
    for name, operator in _operators():
        occurrence = 0
        for node, offset in nodes:
            for index, (begin, end) in enumerate(list(operator.mutation_positions(node))):
                last = end[0] - (end[1] == 0 and end[0] > begin[0])
                try:
                    change = _change(operator, node, index)
                except RecursionError:  # nested so deeply that its text cannot be put together
                    occurrence += 1
                    continue
                if change is None:
                    found.append(Splice(name, occurrence, begin[0], last, offset, offset, "", crashes=True))
                else:
                    start, stop, text = change
                    found.append(
                        Splice(name, occurrence, begin[0], last, offset + start, offset + stop, text)
                    )
                occurrence += 1
    return tuple(found)


def _operators() -> Iterator[tuple[str, Any]]:
    """Yield the operators of the standard run: those of cosmic-ray's own provider that need no arguments."""
    from cosmic_ray.operators.provider import OperatorProvider

    provider = OperatorProvider()
    for name in provider:
        operator = provider[name]
        if not operator.arguments():
            yield f"core/{name}", operator()


def _candidates(root: Any) -> Iterator[tuple[Any, int]]:
    """Yield the nodes that operators can act on with their offset in the text, in cosmic-ray's order (pre-order)."""
    offset = 0
    pending = [root]
    while pending:
        node = pending.pop()
        children = getattr(node, "children", None)
        if children is None:
            if node.type in _LEAF_TYPES:
                yield node, offset
            offset += len(node.prefix) + len(node.value)
        else:
            if node.type in _NODE_TYPES:
                yield node, offset
            pending.extend(reversed(children))


def _change(operator: Any, node: Any, index: int) -> tuple[int, int, str] | None:
    """Mutate a node, read off (start, end, replacement) relative to the node's first character, and undo it.

    Returns None if the operator raises.
    """
    children = getattr(node, "children", None)
    leaves = [] if children is None else [leaf for child in children for leaf in _shallow_leaves(child)]
    values = [(leaf, leaf.value) for leaf in (leaves if children is not None else [node])]
    kept = None if children is None else list(children)
    before = _pieces(node)
    try:
        mutated = operator.mutate(node, index)
        after = [] if mutated is None else _pieces(mutated)
    except Exception:  # whatever a third party's operator raises: cosmic-ray calls the mutant incompetent
        after = None
    finally:
        for leaf, value in values:
            leaf.value = value
        if kept is not None:
            node.children = kept
            for child in kept:
                child.parent = node
    return None if after is None else _difference(before, after)


def _shallow_leaves(node: Any) -> Iterator[Any]:
    """Yield a node's leaves; not those of a block of statements, which no operator changes from its header."""
    children = getattr(node, "children", None)
    if children is None:
        if hasattr(node, "value"):
            yield node
    elif node.type != "suite":
        for child in children:
            yield from _shallow_leaves(child)


def _pieces(node: Any) -> list[tuple[Any, str]]:
    """Return a node's text child by child, each with what identifies it; a block stands for itself, unread."""
    children = getattr(node, "children", None)
    if children is None:
        return [(None, node.get_code())]
    return [(child, "") if child.type == "suite" else (None, child.get_code()) for child in children]


def _difference(before: Sequence[tuple[Any, str]], after: Sequence[tuple[Any, str]]) -> tuple[int, int, str]:
    """Return where two lists of pieces differ, as (start, end, replacement) in the first one's text."""
    head = 0
    while head < min(len(before), len(after)) and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    start = sum(_length(piece) for piece in before[:head])
    end = start + sum(_length(piece) for piece in before[head : len(before) - tail])
    return start, end, "".join(text for _, text in after[head : len(after) - tail])


def _length(piece: tuple[Any, str]) -> int:
    block, text = piece
    return len(text) if block is None else len(block.get_code())
