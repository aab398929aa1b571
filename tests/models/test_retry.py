"""Which failures are tried again, how often, and how long is waited."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from bot.models.retry import Retry, may_pass


class FailureError(Exception):
    def __init__(self, status: int, said: str = "", **headers: str) -> None:
        super().__init__(said or f"failed with {status}")
        self.status_code = status
        self.response = SimpleNamespace(
            headers={name.replace("_", "-"): value for name, value in headers.items()}
        )


def failing(*failures: Exception) -> Callable[[], str]:
    left = list(failures)

    def function() -> str:
        if left:
            raise left.pop(0)
        return "done"

    return function


@pytest.fixture(name="waits")
def _waits() -> list[float]:
    return []


@pytest.fixture(name="retry")
def _retry(waits: list[float]) -> Retry:
    return Retry(sleep=waits.append, chance=random.Random(1))


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
def test_a_failure_that_may_pass_is_tried_again(retry: Retry, status: int) -> None:
    assert retry.call(failing(FailureError(status))) == "done"


@pytest.mark.parametrize("error", [TimeoutError(), ConnectionResetError()])
def test_lost_connections_and_time_limits_may_pass(error: Exception) -> None:
    assert may_pass(error)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_failure_that_cannot_pass_is_raised_at_once(retry: Retry, waits: list[float], status: int) -> None:
    with pytest.raises(FailureError):
        retry.call(failing(FailureError(status)))
    assert waits == []


def test_an_error_without_a_status_is_raised_at_once(retry: Retry) -> None:
    with pytest.raises(ValueError, match="ours"):
        retry.call(failing(ValueError("ours")))


def test_after_the_last_attempt_the_failure_is_raised(retry: Retry, waits: list[float]) -> None:
    with pytest.raises(FailureError):
        retry.call(failing(*[FailureError(429)] * 4))
    assert len(waits) == 3


def test_waits_double_with_jitter(retry: Retry, waits: list[float]) -> None:
    assert retry.call(failing(*[FailureError(503)] * 3)) == "done"
    assert [0.5 <= wait / 2**n <= 1.5 for n, wait in enumerate(waits)] == [True, True, True]
    assert len({wait / 2**n for n, wait in enumerate(waits)}) == 3


@pytest.mark.parametrize(("asked", "waited"), [("7", 7.0), ("0", 0.0), ("3600", 60.0), ("-1", 0.0)])
def test_the_wait_is_what_the_server_asks_up_to_a_minute(
    retry: Retry, waits: list[float], asked: str, waited: float
) -> None:
    retry.call(failing(FailureError(429, retry_after=asked)))
    assert waits == [waited]


def test_a_date_to_retry_after_is_not_read(retry: Retry, waits: list[float]) -> None:
    retry.call(failing(FailureError(429, retry_after="Wed, 21 Oct 2026 07:28:00 GMT")))
    assert 0.5 <= waits[0] <= 1.5


def test_the_same_server_error_twice_is_not_tried_a_third_time(retry: Retry, waits: list[float]) -> None:
    with pytest.raises(FailureError):
        retry.call(failing(*[FailureError(500, "cannot parse")] * 3))
    assert len(waits) == 1


def test_different_server_errors_are_tried_again(retry: Retry) -> None:
    assert retry.call(failing(FailureError(500, "a"), FailureError(500, "b"))) == "done"


def test_a_second_time_limit_is_the_last(retry: Retry, waits: list[float]) -> None:
    with pytest.raises(TimeoutError):
        retry.call(failing(*[TimeoutError()] * 3))
    assert len(waits) == 1


def test_a_pause_that_one_thread_was_asked_for_is_kept_by_the_others(
    retry: Retry, waits: list[float]
) -> None:
    assert retry.call(failing(FailureError(429, retry_after="30"))) == "done"
    other = threading.Thread(target=retry.call, args=(failing(),))
    other.start()
    other.join(30)
    own, others = waits
    assert own == 30.0
    assert 0.0 < others <= 30.0
