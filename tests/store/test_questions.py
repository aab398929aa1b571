"""Questions in the database."""

from __future__ import annotations

import time

from bot.store.questions import Asking, Question


def rows(store) -> list[tuple[str, str, str]]:
    return [(row.name, row.call, row.state) for row in store.questions.of_pull("o/r", 1)]


def test_one_question_is_open_at_a_time_and_numbers_are_not_used_again(store):
    store.questions.ask("o/r", 1, "m.py", "f", "f(1)", "_ == 1")
    store.questions.ask("o/r", 1, "m.py", "f", "f(2)", "_ == 2")
    assert rows(store) == [("Q1", "f(1)", "open")]
    store.questions.close("o/r", 1, 1, "dropped")
    store.questions.ask("o/r", 1, "m.py", "f", "f(2)", "_ == 2")
    assert rows(store) == [("Q1", "f(1)", "dropped"), ("Q2", "f(2)", "open")]
    assert store.questions.of_pull("o/r", 2) == ()


def test_an_answer_is_kept_with_who_gave_it(store):
    store.questions.ask("o/r", 1, "m.py", "f", "f(1)", "_ == 1")
    store.questions.close("o/r", 1, 1, "yes", actor="alice")
    (question,) = store.questions.of_pull("o/r", 1)
    assert (question.state, question.actor) == ("yes", "alice")
    assert question.answered is not None


def test_questions_that_are_open_for_long_are_found(store):
    store.questions.ask("o/r", 1, "m.py", "f", "f(1)", "_ == 1")
    assert store.questions.open_since(time.time() - 60) == ()
    ((repository, number, question),) = store.questions.open_since(time.time() + 60)
    assert (repository, number, question.call) == ("o/r", 1, "f(1)")
    store.questions.close("o/r", 1, 1, "no")
    assert store.questions.open_since(time.time() + 60) == ()


def test_what_can_be_asked_is_replaced_by_what_is_found_next(store):
    first = Asking("m.py", "f", "a" * 40, {"name": "f"}, 2)
    second = Asking("m.py", "g", "b" * 40, {"name": "g"}, 1)
    store.questions.keep("o/r", 1, [first])
    store.questions.keep("o/r", 1, [second])
    store.questions.keep("o/r", 2, [first])
    assert store.questions.inquiries("o/r", 1) == (second,)


def test_what_was_asked_long_ago_is_forgotten(store):
    store.questions.ask("o/r", 1, "m.py", "f", "f(1)", "_ == 1")
    store.questions.keep("o/r", 1, [Asking("m.py", "f", "a" * 40, {}, 2)])
    store.questions.forget(time.time() + 60)
    assert store.questions.of_pull("o/r", 1) == ()
    assert store.questions.inquiries("o/r", 1) == ()


def test_a_question_has_a_name():
    assert Question(7, "m.py", "f", "f(1)", "_ == 1").name == "Q7"
