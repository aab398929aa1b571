"""The dialogue with an author: which question comes next, and what its answer rules out."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.intent.dialogue import Answer, begin, best, converse, next_question, replay
from bot.intent.ranking import Pool, prune, ranked, sides
from bot.programs.assertions import Assertion
from bot.programs.table import Table


def pool_of(*outcomes: str, weights: Sequence[int] = (), votes: Sequence[int] = ()) -> Pool:
    """A pool from one row of letters a candidate."""
    assertions = tuple(Assertion(f"f({number})", "_ == 0") for number in range(len(outcomes[0])))
    calls = tuple(one.call for one in assertions)
    table = Table(assertions, outcomes, calls, tuple(() for _ in outcomes))
    return Pool(table, tuple(weights) or (1,) * len(outcomes), tuple(votes) or (1,) * len(assertions))


class Scripted:
    """An author with prepared answers."""

    def __init__(self, *answers: Answer) -> None:
        self._answers = list(answers)
        self.asked: list[str] = []

    def ask(self, assertion: Assertion, number: int) -> Answer:
        assert number == len(self.asked) + 1
        self.asked.append(assertion.call)
        return self._answers.pop(0)


def test_the_question_that_splits_the_candidates_best_comes_first():
    pool = pool_of("PPP", "PPF", "PFF", "PFF")
    assert ranked(pool, range(4), ()) == [1, 2, 0]


def test_candidates_that_raise_or_take_too_long_are_in_neither_group():
    pool = pool_of("PP", "PF", "EF", "TF", "XP")
    assert sides(pool, range(5), 0) == (2, 0)
    assert next_question(pool, begin(pool)) == 1


def test_each_candidate_counts_once_however_many_samples_gave_it():
    pool = pool_of("PF", "FP", "FF", weights=(5, 1, 5))
    assert sides(pool, range(3), 0) == (1, 2)


def test_of_equals_the_one_that_more_samples_proposed_comes_first():
    assert ranked(pool_of("PP", "FF", votes=(1, 2)), range(2), ()) == [1, 0]


@pytest.mark.parametrize(("answer", "left"), [("yes", [0]), ("no", [1, 2, 3]), ("undefined", [0, 1, 2, 3])])
def test_an_answer_leaves_the_candidates_that_agree_with_it(answer, left):
    pool = pool_of("P", "F", "E", "T")
    assert prune(pool.table, range(4), 0, answer) == left


def test_a_dialogue_asks_until_nothing_tells_the_candidates_apart():
    pool = pool_of("PPP", "PPF", "PFF", "PFF")
    author = Scripted("no")
    (state,) = converse(pool, author)
    assert author.asked == ["f(1)"]
    assert (state.alive, state.approved) == ((2, 3), ())


def test_a_dialogue_ends_when_the_author_stops():
    assert list(converse(pool_of("PF", "FP"), Scripted("stop"))) == []


def test_no_more_questions_than_asked_for():
    pool = pool_of("PPPP", "PPPF", "PPFF", "PFFF", "FFFF")
    author = Scripted("undefined", "undefined")
    assert len(list(converse(pool, author, questions=2))) == 2
    assert len(set(author.asked)) == 2


def test_of_answers_that_contradict_each_other_the_last_counts():
    pool = pool_of("PF", "FP")
    state = replay(pool, [(0, "yes"), (1, "yes")])
    assert (state.alive, state.overruled) == ((1,), (0,))


def test_an_answer_that_no_candidate_has_rules_nobody_out():
    pool = pool_of("PF", "FF")
    state = replay(pool, [(0, "yes"), (1, "yes")])
    assert (state.alive, state.overruled) == ((0,), (1,))


def test_the_last_answer_to_a_question_counts():
    pool = pool_of("PF", "FP")
    state = begin(pool).answered(pool, 0, "yes").answered(pool, 0, "no")
    assert (state.alive, state.answers) == ((1,), ((0, "no"),))


def test_candidates_are_ranked_by_the_models_own_assertions():
    pool = pool_of("PPF", "PFP", "FFP", weights=(1, 1, 9))
    assert best(pool, begin(pool), [0, 1]) == [(0, 2), (1, 1), (2, 0)]
    assert best(pool, begin(pool), [0, 1, 2, 2, 2]) == [(1, 4), (2, 3), (0, 2)]


@given(
    st.integers(1, 6).flatmap(
        lambda width: st.lists(st.text("PFETX", min_size=width, max_size=width), min_size=1, max_size=8)
    ),
    st.lists(st.sampled_from(["yes", "no", "undefined"]), max_size=6),
)
def test_candidates_only_ever_leave_and_somebody_always_stays(rows, answers):
    pool = pool_of(*rows)
    state = begin(pool)
    for answer in answers:
        number = next_question(pool, state)
        if number is None:
            break
        after = state.answered(pool, number, answer)
        assert set(after.alive) <= set(state.alive)
        assert after.alive
        state = after
