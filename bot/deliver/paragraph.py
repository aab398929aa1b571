"""Text that wraps as a paragraph: every line indented, none with white space at its end."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A text for rich, `indent` columns from the left."""

    text: str
    style: str = ""
    indent: int = 2

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = max(1, options.max_width - self.indent)
        for line in Text(self.text, style=self.style).wrap(console, width):
            line.rstrip()
            yield Text(" " * self.indent, end="").append_text(line) + Text("\n", end="")
