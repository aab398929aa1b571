"""Jobs for the guest: what a program writes comes back, whole lines only, sealed, and nothing stays behind."""

from __future__ import annotations

import pytest

from bot.errors import SandboxError
from bot.measure.guest_jobs import run_job

TESTS = {"test_it.py": "def test_a():\n    pass\n"}
JOB = {
    "selection": ["test_it.py"],
    "cover": [],
    "order_seed": None,
    "timeout_s": 60,
    "test_timeout_s": 60,
}


class Tampering:
    """A sandbox in which something changes the results before they are read."""

    def __init__(self, box, change):
        self._box = box
        self._change = change

    def __getattr__(self, name):
        return getattr(self._box, name)

    def read(self, path, *, limit):
        return self._change(self._box.read(path, limit=limit))


def kinds(answer):
    return [row["event"] for row in answer.rows]


def test_what_a_program_writes_comes_back_and_nothing_stays_behind(open_box):
    box = open_box(TESTS)
    before = box.run(["ls", "-A", box.scratch], timeout_s=20).stdout
    answer = run_job(box, "run", JOB, timeout_s=60)
    assert [kind for kind in kinds(answer) if kind != "collecting"] == ["collected", "begin", "test"]
    assert "1 passed" in answer.output
    assert box.run(["ls", "-A", box.scratch], timeout_s=20).stdout == before


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content.replace(b"passed", b"failed"),
        lambda content: content + content.splitlines(keepends=True)[-2],
        lambda content: b"".join(content.splitlines(keepends=True)[1:]),
        lambda content: b"".join(reversed(content.splitlines(keepends=True))),
        lambda content: b"".join(content.splitlines(keepends=True)[:-1]),
        lambda _: b"",
        lambda content: b"\x00\xff {}\n" + content,
    ],
    ids=["changed", "repeated", "beheaded", "reversed", "cut", "emptied", "nonsense"],
)
def test_results_that_were_changed_afterwards_are_not_believed(open_box, change):
    answer = run_job(Tampering(open_box(TESTS), change), "run", JOB, timeout_s=60)
    assert answer.forged
    assert "passed" not in [row.get("outcome") for row in answer.rows]


def test_something_else_in_the_place_of_the_results_is_no_result(open_box):
    def refuse(_):
        raise SandboxError("it is not a regular file")

    assert run_job(Tampering(open_box(TESTS), refuse), "run", JOB, timeout_s=60).forged


def test_a_line_that_is_cut_where_the_clerk_was_ended_is_left_out(open_box):
    hang = {"test_it.py": "import time\ndef test_a():\n    time.sleep(60)\n"}
    whole = []

    def keep_most(content):
        whole.append(content)
        return content[:-3]

    cut = run_job(Tampering(open_box(hang), keep_most), "run", JOB, timeout_s=7)
    assert cut.completed.timed_out
    assert (cut.forged, len(cut.rows)) == ("", whole[0].count(b"\n") - 1)
    assert cut.rows
