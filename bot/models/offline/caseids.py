"""The ids that pytest gives to the cases of a parametrised test, worked out from the cells' texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from bot.models.offline import words

_LONG = 100
_UNPRINTABLE = {code: f"\\x{code:02x}" for code in range(128) if not 32 <= code < 127} | {
    ord("\t"): "\\t",
    ord("\r"): "\\r",
    ord("\n"): "\\n",
}


def case_ids(columns: Sequence[str], rows: Sequence[Sequence[str]], *, long_text: bool = False) -> list[str]:
    """Return an id for each row.

    Args:
        long_text: Whether texts of more than 100 characters are part of the id, as they are before pytest 9.
    """
    plain = [
        "-".join(_cell_id(text, column, place, long_text) for column, text in zip(columns, row, strict=True))
        for place, row in enumerate(rows)
    ]
    counts = Counter(plain)
    used: Counter[str] = Counter()
    found = list(plain)
    for place, text in enumerate(plain):
        if counts[text] == 1:
            continue
        joint = "_" if text[-1:].isdigit() else ""
        while f"{text}{joint}{used[text]}" in found:
            used[text] += 1
        found[place] = f"{text}{joint}{used[text]}"
        used[text] += 1
    return found


def _cell_id(text: str, column: str, place: int, long_text: bool) -> str:
    known, value = words.evaluated(text)
    if known and isinstance(value, str | bytes) and (long_text or len(value) <= _LONG):
        return _escaped(value)
    if known and (value is None or isinstance(value, bool | int | float | complex)):
        return str(value)
    if not known and all(part.isidentifier() for part in text.split(".")):
        return text.rpartition(".")[2]  # a class or a function
    if text.startswith("lambda"):
        return "<lambda>"
    return f"{column}{place}"


def _escaped(value: str | bytes) -> str:
    if isinstance(value, bytes):
        return value.decode("ascii", "backslashreplace").translate(_UNPRINTABLE)
    return value.encode("unicode_escape").decode("ascii")
