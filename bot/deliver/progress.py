"""A run while it goes on: a live table of stages on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.table import Table
from rich.text import Text

from bot.deliver.console import seconds
from bot.deliver.wording import clean
from bot.domain import Progress

Listener = Callable[[Progress], None]

_MARKS = {
    "started": ("…", "cyan"),
    "note": ("…", "cyan"),
    "done": ("✓", "green"),
    "failed": ("✗", "red"),
}
_PLAIN_MARKS = {"…": ".", "✓": "ok", "✗": "!!"}
_ROWS_SHOWN = 14


@contextmanager
def listening(console: Console, *, quiet: bool) -> Iterator[Listener]:
    """Give a listener that shows progress on a console, until the block ends."""
    if quiet:
        yield lambda _: None
    elif console.is_terminal and not console.is_dumb_terminal:
        with LiveProgress(console) as live:
            yield live
    else:
        yield PlainProgress(console)


class PlainProgress:
    """Prints a line for each stage begun, each remark and each end that has something to say."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._started = time.monotonic()
        self._last: dict[tuple[str, str], str] = {}

    def __call__(self, progress: Progress) -> None:
        key = (progress.stage, progress.target)
        if progress.state == "done" and progress.text == self._last.get(key, ""):
            return
        self._last[key] = progress.text
        passed = time.monotonic() - self._started
        about = " ".join(filter(None, (clean(progress.target), clean(progress.text))))
        failed = "failed: " if progress.state == "failed" else ""
        line = f"[{passed:6.1f} s] {progress.stage:<11} {failed}{about}".rstrip()
        self._console.print(Text(line), soft_wrap=True)


@dataclass(frozen=True, slots=True)
class _Stage:
    """One row of the live table."""

    name: str
    target: str
    state: str
    text: str
    began: float
    ended: float | None = None


@dataclass
class LiveProgress:
    """A table of stages that redraws itself; a context manager and a listener."""

    console: Console
    _stages: dict[tuple[str, str], _Stage] = field(default_factory=dict)
    _live: Live | None = None

    def __enter__(self) -> LiveProgress:
        self._live = Live(self, console=self.console, refresh_per_second=8, transient=True)
        self._live.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def __call__(self, progress: Progress) -> None:
        key = (progress.target, progress.stage)
        now = time.monotonic()
        known = self._stages.get(key)
        if known is None or (progress.state == "started" and known.ended is not None):
            known = _Stage(progress.stage, progress.target, "started", "", now)
        ended = now if progress.state in ("done", "failed") else None
        text = clean(progress.text) or known.text
        stages = {**self._stages, key: replace(known, state=progress.state, text=text, ended=ended)}
        self._stages = stages  # replaced as a whole: the thread that draws may be reading the old one

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True, justify="right")
        table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
        table.expand = True
        stages = list(self._stages.values())
        for stage in stages[-_ROWS_SHOWN:]:
            mark, style = _MARKS.get(stage.state, _MARKS["note"])
            if options.ascii_only:
                mark = _PLAIN_MARKS[mark]
            passed = (time.monotonic() if stage.ended is None else stage.ended) - stage.began
            about = "  ".join(filter(None, (clean(stage.target), stage.text)))
            table.add_row(
                Text(mark, style=style),
                Text(stage.name),
                Text(seconds(passed), style="dim"),
                Text(about, style="dim"),
            )
        yield table
