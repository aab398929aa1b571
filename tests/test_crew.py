"""Several pieces of work at once: all are done, and all stop together."""

from __future__ import annotations

import threading
import time
from functools import partial

import pytest

from bot.crew import share


@pytest.mark.parametrize("hands", [1, 2, 5, 50])
def test_every_work_is_done_once(hands: int) -> None:
    done: list[int] = []
    share([partial(done.append, number) for number in range(20)], hands)
    assert sorted(done) == list(range(20))


def test_with_one_hand_they_are_done_here_in_their_order() -> None:
    done: list[tuple[int, int]] = []
    share([lambda n=n: done.append((n, threading.get_ident())) for n in range(3)], 1)
    assert done == [(n, threading.get_ident()) for n in range(3)]


def test_so_many_are_at_work_at_once_as_there_are_hands() -> None:
    together = threading.Barrier(3, timeout=30)
    share([together.wait] * 3, 3)


def test_the_first_that_fails_stops_the_others_and_what_waits() -> None:
    begun, cleaned = threading.Event(), []
    late: list[int] = []

    def long() -> None:
        try:
            begun.set()
            for _ in range(3_000):
                time.sleep(0.01)
        finally:
            cleaned.append(True)

    def failing() -> None:
        assert begun.wait(30)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        share([long, failing, lambda: late.append(1)], 2)
    assert (cleaned, late) == ([True], [])


def test_ctrl_c_reaches_every_work() -> None:
    begun = threading.Barrier(3, timeout=30)
    stopped: list[type[BaseException]] = []

    def long() -> None:
        try:
            begun.wait()
            for _ in range(3_000):
                time.sleep(0.01)
        except BaseException as reason:
            stopped.append(type(reason))
            raise

    def interrupting() -> None:
        begun.wait()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        share([long, long, interrupting], 3)
    assert stopped == [KeyboardInterrupt] * 2
