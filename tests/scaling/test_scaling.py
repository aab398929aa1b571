"""CodeRM: votes, the quality of tests, and sharing a budget."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.programs.assertions import Assertion
from bot.programs.grid import Cell
from bot.programs.table import Table
from bot.scaling import vote
from bot.scaling.allocation import allocate, first_success, uncertain_vote
from bot.scaling.difficulty import Agreement, agreement, estimate, features
from bot.scaling.network import train
from bot.scaling.quality import Confusion, confusion, single, voted


def table(*outcomes: str) -> Table:
    assertions = tuple(Assertion(f"f({number})", "_ == 0") for number in range(len(outcomes[0])))
    return Table(assertions, outcomes, tuple(one.call for one in assertions), ())


# ---------------------------------------------------------------- votes


def test_a_unit_test_is_passed_when_all_its_assertions_are():
    found = vote.unit_results(table("PPF", "PPP"), [(0, 1), (1, 2), ()], 2)
    assert found == ((True, False), (True, True))


def test_the_vote_takes_the_candidate_that_passes_most_unit_tests():
    scores = vote.majority(table("PFF", "PPF", "FFP"), [(0,), (1,), (0, 1), (2,)], 3)
    assert [(one.candidate, one.units) for one in scores] == [(1, 3), (0, 1), (2, 1)]
    assert vote.best(scores) == [1]


def test_of_equals_the_vote_prefers_more_single_assertions():
    scores = vote.majority(table("PFF", "PPF"), [(0, 1, 2), (0,)], 2)
    assert [one.candidate for one in scores] == [1, 0]
    assert vote.best(scores) == [1, 0]


def test_dual_agreement_believes_the_group_that_agrees_with_itself_and_with_many_tests():
    scores = vote.dual_agreement(table("PPPP", "PPFF", "PPFF"), [(0,), (1,), (2,), (3,)], (1, 16, 9))
    assert [one.candidate for one in scores] == [1, 2, 0]
    assert [one.score for one in scores] == [10.0, 10.0, 4.0]


# ---------------------------------------------------------------- quality


def test_the_standard_and_the_papers_rates_are_told_apart():
    found = Confusion(tp=6, tn=20, fp=4, fn=2)
    assert found.accuracy == pytest.approx(26 / 32)
    assert found.f1 == pytest.approx(12 / 18)
    assert (found.far, found.frr) == (pytest.approx(4 / 24), pytest.approx(2 / 8))
    assert (found.far_of_paper, found.frr_of_paper) == (pytest.approx(4 / 10), pytest.approx(2 / 22))


def test_rates_of_nothing_are_not_zero():
    nothing = Confusion()
    assert (nothing.accuracy, nothing.f1, nothing.far, nothing.frr) == (None, None, None, None)


def test_judgements_count_by_weight():
    assert confusion((True, True, False), (True, False, True), (3, 2, 5)) == Confusion(3, 0, 2, 5)


def test_a_vote_accepts_all_that_pass_most_unit_tests():
    results = ((True, True), (True, False), (True, True))
    assert voted(results) == (True, False, True)
    assert list(single(results)) == [(True, True, True), (True, False, True)]


# ---------------------------------------------------------------- budgets


def test_equation_two():
    assert first_success(0.5, 0) == 0
    assert first_success(0.5, 2) == pytest.approx(0.75)


def test_a_hard_function_gets_more():
    assert allocate([0.9, 0.2], 10) == (2, 8)


def test_every_function_gets_the_floor_first():
    assert allocate([1.0, 0.0, 0.5], 9, floor=2) == (2, 2, 5)


def test_nobody_gets_more_than_the_most():
    assert allocate([0.1, 0.9], 10, most=4) == (4, 4)


def test_a_vote_is_worth_most_where_half_the_candidates_are_right():
    assert allocate([0.0, 0.5, 1.0], 12, gain=uncertain_vote) == (1, 10, 1)


@given(
    st.lists(st.floats(0, 1), max_size=8),
    st.integers(0, 60),
    st.integers(0, 3),
    st.sampled_from([first_success, uncertain_vote]),
)
def test_a_budget_is_spent_and_never_exceeded(rates, budget, floor, gain):
    shares = allocate(rates, budget, floor=floor, gain=gain)
    assert len(shares) == len(rates)
    assert sum(shares) == (budget if rates else 0)
    if budget >= floor * len(rates):
        assert all(share >= floor for share in shares)


# ---------------------------------------------------------------- difficulty

EASY = 'def f(x: int) -> int:\n    """Return x and one."""\n    return x + 1\n'
HARD = """
def f(rows, limits, flags):
    found = {}
    for row in rows:
        for key, value in row.items():
            while value > limits.get(key, 0):
                if key in flags and value % 2:
                    value -= 1
                elif value > 100:
                    value //= 2
                else:
                    break
            found.setdefault(key, []).append(value)
    return sorted(found.items())
"""


def test_agreement_is_the_share_of_the_commonest_outcome():
    one, two = Cell("value", "1", ""), Cell("value", "2", "")
    raised = Cell("raised", "KeyError", "")
    assert agreement([(one, raised), (one, one), (two, raised), (one, raised)]) == Agreement(0.75, 0.375)
    assert agreement([]) is None


def test_features_count_what_can_be_seen():
    easy, hard = features(EASY, "f"), features(HARD, "f")
    assert len(easy) == len(hard)
    assert hard[0] > easy[0]  # lines
    assert hard[3] > easy[3] == 0  # branches


def test_a_function_that_is_not_there_is_an_error():
    with pytest.raises(ValueError, match="there is no function 'g'"):
        features(EASY, "g")


def test_samples_that_agree_make_a_function_look_easier():
    sure, torn = Agreement(1.0, 0.0), Agreement(0.3, 0.5)
    assert 0 < estimate(HARD, "f", torn) < estimate(EASY, "f", sure) < 1


def test_a_network_learns_a_rate_that_depends_on_its_inputs():
    rows = [(float(x), float(x % 3)) for x in range(30)]
    rates = [0.9 if x < 15 else 0.2 for x in range(30)]
    network = train(rows, rates, epochs=200)
    assert network.predict((3.0, 0.0)) > 0.7
    assert network.predict((27.0, 0.0)) < 0.4
    assert network == train(rows, rates, epochs=200)
