"""Progress, live and in plain lines."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from bot.deliver.progress import LiveProgress, PlainProgress, listening
from bot.domain import Progress

STORY = (
    Progress("changes", "started"),
    Progress("changes", "done", "", "1 file"),
    Progress("seed", "started", "src/a.py"),
    Progress("seed", "note", "src/a.py", "12 lines"),
    Progress("seed", "done", "src/a.py", "12 lines"),
    Progress("refine", "started", "src/a.py"),
    Progress("refine", "done", "src/a.py"),
    Progress("select", "failed", "src/a.py", "no\x1b[31m luck"),
)


@pytest.fixture
def stream():
    return io.StringIO()


def lines_of(stream: io.StringIO) -> list[str]:
    return [line.split("] ", 1)[1] for line in stream.getvalue().splitlines()]


def test_plain_progress_prints_each_news_once(stream):
    listener = PlainProgress(Console(file=stream, markup=False))
    for progress in STORY:
        listener(progress)
    assert lines_of(stream) == [
        "changes",
        "changes     1 file",
        "seed        src/a.py",
        "seed        src/a.py 12 lines",
        "refine      src/a.py",
        "select      failed: src/a.py no luck",
    ]


def test_plain_progress_does_not_wrap_or_read_markup(stream):
    long = "[red]" + "x" * 200
    PlainProgress(Console(file=stream, width=80, markup=False))(Progress("seed", "note", "", long))
    assert lines_of(stream) == [f"seed        {long}"]


def test_live_progress_shows_every_stage_with_its_last_words(stream):
    live = LiveProgress(Console(file=stream, force_terminal=True, width=80))
    for progress in STORY:
        live(progress)
    out = io.StringIO()
    Console(file=out, width=80, color_system=None).print(live)
    rows = [line.split() for line in out.getvalue().splitlines()]
    assert [row[:2] for row in rows] == [["✓", "changes"], ["✓", "seed"], ["✓", "refine"], ["✗", "select"]]
    assert rows[1][-3:] == ["src/a.py", "12", "lines"]
    assert "\x1b" not in out.getvalue()


def test_live_progress_keeps_to_ascii_where_it_must():
    live = LiveProgress(Console())
    for progress in STORY:
        live(progress)
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    Console(file=stream, width=80).print(live)
    stream.flush()


def test_live_progress_shows_the_latest_stages_of_a_long_run():
    live = LiveProgress(Console())
    for number in range(40):
        live(Progress("seed", "started", f"f{number}.py"))
    out = io.StringIO()
    Console(file=out, width=80).print(live)
    assert "f39.py" in out.getvalue()
    assert len(out.getvalue().splitlines()) < 20


def test_a_terminal_gets_the_live_table_and_leaves_nothing_behind(stream):
    console = Console(file=stream, force_terminal=True, width=80, color_system=None)
    with listening(console, quiet=False) as listener:
        for progress in STORY:
            listener(progress)
    assert isinstance(listener, LiveProgress)
    assert stream.getvalue().endswith("\x1b[2K")


def test_elsewhere_lines_are_printed(stream):
    with listening(Console(file=stream), quiet=False) as listener:
        assert isinstance(listener, PlainProgress)


def test_quiet_is_silent(stream):
    with listening(Console(file=stream, force_terminal=True), quiet=True) as listener:
        for progress in STORY:
            listener(progress)
    assert stream.getvalue() == ""


def test_the_live_table_ends_also_when_the_run_breaks(stream):
    console = Console(file=stream, force_terminal=True, width=80)

    def broken_run() -> None:
        with listening(console, quiet=False) as listener:
            listener(Progress("seed", "started"))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        broken_run()
    assert "\x1b[?25h" in stream.getvalue()  # the cursor is back
