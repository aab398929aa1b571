"""Measures before and after as small bars, for a terminal and for plain text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

_WIDTH = 16  # characters of a bar


@dataclass(frozen=True, slots=True)
class Row:
    """One measure: fractions before and after (None: not measured), and a remark such as `52 of 60 mutants`."""

    name: str
    before: float | None
    after: float | None
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Bars:
    """Rows of `before -> after`. A row with one value only (`before_known` false) shows just that one."""

    rows: Sequence[Row]
    before_known: bool = True
    indent: int = 2

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = max((len(row.name) for row in self.rows), default=0)
        drawn = console.is_terminal and not options.ascii_only
        for row in self.rows:
            line = Text(" " * self.indent + f"{row.name:<{width}}  ", no_wrap=True, overflow="ellipsis")
            if self.before_known:
                line.append(f"{percent(row.before):>4} -> {percent(row.after):>4}  ")
            else:
                line.append(f"{percent(row.after):>4}  ")
            if row.after is not None:
                line.append_text(_bar(row.before if self.before_known else None, row.after, drawn))
            if row.remark:
                line.append(f"  {row.remark}", style="dim")
            line.rstrip()
            yield line


def percent(value: float | None) -> str:
    """Return a fraction in whole percent, `?` for None; 100% only if nothing is missing, 0% only if nothing is there."""
    if value is None:
        return "?"
    whole = round(value * 100)
    if whole == 100 and value < 1:
        whole = 99
    if whole == 0 and value > 0:
        whole = 1
    return f"{whole}%"


def _bar(before: float | None, after: float, drawn: bool) -> Text:
    """Return a bar: what was there, what was added, what is missing."""
    full, added, empty = ("█", "▓", "░") if drawn else ("#", "+", ".")
    end = round(after * _WIDTH)
    start = min(end, round((before or 0.0) * _WIDTH)) if before is not None else end
    bar = Text("" if drawn else "[")
    bar.append(full * start, style="green" if before is None else "blue")
    bar.append(added * (end - start), style="green")
    bar.append(empty * (_WIDTH - end), style="dim")
    bar.append("" if drawn else "]")
    return bar
