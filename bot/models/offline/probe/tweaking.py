"""A literal changed a little: numbers moved, items swapped, letters and words put in, taken out and exchanged."""

from __future__ import annotations

import ast
import random
import re
from typing import Any

from . import inputs, values

_LONGEST = 80
_LONGEST_GROWTH = 40


class Tweaker:
    """Makes neighbours of literals.

    Attributes:
        hints: Values that comparisons were seen to compare, by type.
        strings: Texts of the strings that the module compares with or matches.
        swaps: Those of them that are worth exchanging inside of a longer string.
        texts: Strings that the repository's tests hand to the package.
    """

    def __init__(self, source: random.Random) -> None:
        self.random = source
        self.hints: dict[type, list[Any]] = {}
        self.strings: list[str] = []
        self.swaps: list[str] = []
        self.texts: list[str] = []

    def learn(self, filled: inputs.Inputs) -> None:
        """Take the module's own strings as pieces for new ones."""
        pool: dict[str, None] = {}
        for texts in [*filled.constants.values(), filled.module_constants, filled.patterns]:
            for text in texts:
                if values.kind_of(text) == "str":
                    pool[text] = None
        self.strings = list(pool)[:200]
        words = [ast.literal_eval(text) for text in self.strings]
        self.swaps = [
            word for word in words if 0 < len(word) <= 12 and (len(word) > 1 or not word.isalnum())
        ][:80]

    def changed(self, text: str) -> str:
        """Return a literal text changed a little, or the text itself if it is not one."""
        try:
            value = ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return self._changed_inside(text)
        try:
            new = self._tweak(value, 0)
        except (ValueError, OverflowError, TypeError):
            return text
        told = repr(new)
        return (
            told
            if len(told) <= max(_LONGEST, len(text) + _LONGEST_GROWTH)
            and "nan" not in told
            and "inf" not in told
            else text
        )

    def _changed_inside(self, text: str) -> str:
        """Return an expression with one of its literals changed."""
        try:
            tree = ast.parse(text, mode="eval")
        except SyntaxError:
            return text
        places = [
            node
            for node in ast.walk(tree)
            if isinstance(node, (ast.Constant, ast.List, ast.Tuple, ast.Dict))
            and node.lineno == 1 == node.end_lineno
        ]
        if not places or not text.isascii():
            return text
        node = self.random.choice(places)
        inside = ast.unparse(node)
        new = self.changed(inside) if inside != text else text
        return text[: node.col_offset] + new + text[node.end_col_offset :]

    def _tweak(self, value: Any, depth: int) -> Any:
        pick = self.random.choice
        if isinstance(value, bool):
            return not value
        hints = self.hints.get(type(value))
        if hints and self.random.random() < 0.35:
            return pick(hints)
        if isinstance(value, int):
            return pick([value + 1, value - 1, -value, value * 10, value + 10, 0, value // 2])
        if isinstance(value, float):
            return pick(
                [-value, value * 10, round(value + 0.5, 3), value / 2, float(round(value)), value + 1]
            )
        if isinstance(value, str):
            return self._tweak_text(value)
        if isinstance(value, (list, tuple)):
            return type(value)(self._tweak_items(list(value), depth))
        if isinstance(value, dict) and value:
            key = pick(list(value))
            return pick(
                [
                    {k: v for k, v in value.items() if k != key},
                    {**value, key: self._tweak(value[key], depth + 1)},
                ]
            )
        return value

    def _tweak_items(self, items: list[Any], depth: int) -> list[Any]:
        if not items:
            return [1]
        place = self.random.randrange(len(items))
        dice = self.random.randrange(6)
        if dice == 0:
            return items[:place] + items[place + 1 :]
        if dice == 1:
            return [*items, items[place]]
        if dice == 2:
            return items[::-1]
        if dice == 3 and depth < 3:
            return [*items[:place], self._tweak(items[place], depth + 1), *items[place + 1 :]]
        if dice == 4:
            return items[: place + 1]
        other = self.random.randrange(len(items))
        items[place], items[other] = items[other], items[place]
        return items

    def _tweak_text(self, value: str) -> str:
        pick = self.random.choice
        numbers = self.hints.get(int)
        if numbers and re.search(r"\d", value) and self.random.random() < 0.3:
            number = abs(pick(numbers))
            return re.sub(r"[\da-fA-F]*\d[\da-fA-F]*", pick([str(number), f"{number:x}"]), value, count=1)
        place = self.random.randrange(len(value) + 1)
        piece = pick(["-", " ", "a", "1", "_", ".", ",", "A", "0", "é", "'", "&", "2", "s", "b", ":", "\t"])
        choices = [
            value[:place] + piece + value[place:],
            value[:place] + value[place + 1 :],
            value.upper(),
            value.capitalize(),
            value + pick([" world", "s", "1", "-", "."]),
            value[: max(1, len(value) // 2)],
            value + value if len(value) < 12 else value[:6],
            value[::-1] if len(value) < 6 else value,
            " " + value,
        ]
        if value.count(" ") + value.count("\n") > 1 and self.random.random() < 0.7:
            return self._tweak_words(value)
        pool = self.strings
        swaps = [text for text in self.swaps if text in value]
        if swaps:
            old = max(pick(swaps), pick(swaps), key=len)
            choices += [value.replace(old, pick(self.swaps), 1)] * 3
        if pool:
            choices.append(ast.literal_eval(pick(pool)))
            choices.append(value[:place] + ast.literal_eval(pick(pool)) + value[place:])
        return str(pick(choices))

    def _tweak_words(self, value: str) -> str:
        """Return a text of several words with words or lines taken out, repeated, moved or put in."""
        pick = self.random.choice
        parts = re.findall(r"\s+|\w+|[^\w\s]", value)
        places = [index for index, part in enumerate(parts) if not part.isspace()]
        if len(places) < 2:
            return value
        place, other = pick(places), pick(places)
        first, last = min(place, other), max(place, other) + 1
        dice = self.random.randrange(9 if self.texts else 7)
        if dice > 6:
            other_lines = pick(self.texts).splitlines() or [""]
            lines = value.splitlines() if dice == 7 else re.split(r"(?<=\s)(?=\S)", value)
            lines.insert(self.random.randrange(len(lines) + 1), pick(other_lines) + " " * (dice == 8))
            return ("\n" if dice == 7 else "").join(lines)
        if dice == 0:
            parts[first:last] = []
        elif dice == 1:
            parts[place : place + 2] = []
        elif dice == 2:
            parts[place], parts[other] = parts[other], parts[place]
        elif dice == 3:
            parts[last:last] = [" ", *parts[first:last]]
        elif dice == 4 and self.swaps:
            parts[place] = pick(self.swaps)
        else:
            words = [*self.swaps, parts[other], pick(parts)]
            more = [pick(words) for _ in range(self.random.choice([1, 1, 2, 3]))]
            parts[place:place] = [piece for word in more for piece in (word, " ")]
        return "".join(parts)
