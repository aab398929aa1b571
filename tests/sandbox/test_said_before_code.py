"""What a test process has said is dealt with before code of the repository can end whoever deals with it."""

from __future__ import annotations

import threading
import time

import pytest

from bot.sandbox.guest.journal import Journal
from bot.sandbox.guest.letterbox import Letterbox


@pytest.mark.parametrize("event", ["begin", "collecting"])
def test_code_of_the_repository_runs_only_when_all_that_was_said_before_is_dealt_with(event: str) -> None:
    letterbox = Letterbox()
    runs = threading.Event()

    def report() -> None:
        journal = Journal(letterbox.address)
        journal.write("test", id="one")
        journal.write(event, id="two")
        runs.set()

    reporter = threading.Thread(target=report, daemon=True)
    reporter.start()
    letters = []
    until = time.monotonic() + 60
    while len(letters) < 2 and time.monotonic() < until:
        for letter, _ in letterbox.letters(lambda _: True):
            assert not runs.is_set()
            letters.append(letter)
    reporter.join(60)
    assert [b"one" in letters[0], b"two" in letters[1]] == [True, True]
