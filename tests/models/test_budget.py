"""What a run may spend: set aside before a call, settled after it, shared by threads."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from bot.models.budget import Budget, BudgetError, charge
from bot.models.client import Tapes, load
from bot.models.remote import Remote
from bot.models.trace import Traced


def test_what_a_call_may_cost_is_set_aside_and_what_it_did_cost_is_charged() -> None:
    budget = Budget(1.0)
    budget.reserve(0.6)
    assert (budget.spent_usd, budget.reserved_usd) == (0.0, 0.6)
    budget.settle(0.6, 0.1)
    assert (budget.spent_usd, budget.reserved_usd, budget.left_usd) == (0.1, 0.0, 0.9)


def test_a_call_that_does_not_fit_beside_what_is_spent_is_refused() -> None:
    budget = Budget(1.0, spent_usd=0.6)
    with pytest.raises(
        BudgetError, match=r"may cost \$0\.5000.*budget of \$1\.00 \$0\.6000 are spent; raise --budget"
    ):
        budget.reserve(0.5)
    assert budget.reserved_usd == 0.0


def test_without_a_limit_everything_fits() -> None:
    budget = Budget(None)
    budget.reserve(1e9)
    assert (budget.reserved_usd, budget.left_usd) == (1e9, None)


@pytest.mark.parametrize(("cost", "fits"), [(0.1, True), (0.6, False)])
def test_a_call_that_others_reservations_leave_no_room_for_waits_until_they_are_settled(
    cost: float, fits: bool
) -> None:
    budget = Budget(1.0)
    budget.reserve(0.6)
    ended: list[bool] = []

    def second() -> None:
        try:
            budget.reserve(0.5)
            ended.append(True)
        except BudgetError:
            ended.append(False)

    thread = threading.Thread(target=second)
    thread.start()
    budget.settle(0.6, cost)
    thread.join(30)
    assert ended == [fits]


def test_many_threads_never_spend_more_than_the_limit() -> None:
    budget = Budget(1.0)
    most = []

    def spend() -> None:
        for _ in range(20):
            try:
                budget.reserve(0.125)
            except BudgetError:
                return
            most.append(budget.spent_usd + budget.reserved_usd)
            budget.settle(0.125, 0.0625)

    threads = [threading.Thread(target=spend) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert max(most) <= 1.0
    assert budget.reserved_usd == 0.0
    assert 0.8 < budget.spent_usd <= 1.0


def test_what_an_earlier_run_of_a_job_spent_is_charged_through_all_that_stands_around_a_model(
    tmp_path: Path,
) -> None:
    model = load("openai/gpt-4o", seed=0, budget_usd=1.0, tapes=Tapes(trace=tmp_path / "trace"))
    assert isinstance(model, Traced)
    assert isinstance(model.model, Remote)
    charge(model, 0.75)
    assert model.model.budget.left_usd == 0.25


def test_a_model_without_a_budget_is_charged_nothing() -> None:
    model = load("testforge/offline", seed=0, budget_usd=1.0)
    charge(model, 0.75)
    assert model == load("testforge/offline", seed=0, budget_usd=1.0)
