"""Jobs for the guest: what a script writes comes back, whole lines only, and nothing stays behind."""

from __future__ import annotations

import pytest

from bot.measure.guest_jobs import run_job

WRITER = """\
import json, sys
job = json.load(open(sys.argv[1]))
print("said")
if job["text"]:
    open(job["results"], "w").write(job["text"])
"""


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('{"n": 1}\n{"n": 2}\n', ({"n": 1}, {"n": 2})),
        ('{"n": 1}\n{"n": ', ({"n": 1},)),
        ('{"n": ', ()),
        ("", ()),
    ],
)
def test_only_whole_lines_come_back(open_box, text, rows):
    box = open_box({"writer.py": WRITER})
    before = box.run(["ls", "-A", box.scratch], timeout_s=20).stdout
    answer = run_job(box, f"{box.tree}/writer.py", {"text": text}, timeout_s=20)
    assert (answer.rows, answer.output) == (rows, "said\n")
    assert box.run(["ls", "-A", box.scratch], timeout_s=20).stdout == before
