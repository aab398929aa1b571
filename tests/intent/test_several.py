"""Which of several functions is asked about next, and whether anything is in doubt."""

from __future__ import annotations

from bot.intent import kept
from bot.intent.inquiry import Inquiry
from bot.intent.ranking import Pool
from bot.intent.several import Topic, next_topic
from bot.programs.assertions import Assertion
from bot.programs.candidates import Candidate, Origin
from bot.programs.functions import find
from bot.programs.grid import Cell
from bot.programs.table import Table

SOURCE = 'def f(x):\n    """Return x.\n\n    >>> f(1)\n    1\n    """\n    return x + 1\n'
DOCUMENTED = Assertion("f(1)", "_ == 1")
OTHER = Assertion("f(2)", "_ == 3")


def inquiry_of(*rows: tuple[Origin, str], assertions: tuple[Assertion, ...] = (OTHER, DOCUMENTED)) -> Inquiry:
    """An inquiry from a row of letters for each candidate, the head's first."""
    candidates = tuple(
        Candidate(f"def f(x): return {number}\n", origin) for number, (origin, _) in enumerate(rows)
    )
    calls = tuple(one.call for one in assertions)
    cells = tuple(Cell("value", "2", "") for _ in calls)
    table = Table(assertions, tuple(letters for _, letters in rows), calls, (cells,))
    return Inquiry(find(SOURCE, "f"), candidates, Pool(table, (1,) * len(rows), (0,) * len(assertions)), ())


def topic(inquiry: Inquiry, *answers: tuple[Assertion, str], most: int = 3) -> Topic:
    return Topic(inquiry, answers, most)


def test_what_the_documentation_says_and_the_code_does_not_is_in_doubt():
    assert topic(inquiry_of(("head", "PF"))).question == DOCUMENTED
    assert topic(inquiry_of(("head", "PE"))).question == DOCUMENTED


def test_what_a_model_writes_otherwise_is_in_doubt():
    assert topic(inquiry_of(("head", "PP"), ("model", "FP"))).question == OTHER


def test_slight_changes_of_the_code_put_nothing_in_doubt():
    assert topic(inquiry_of(("head", "PP"), ("mutant", "FP"), ("mutant", "PF"))).question is None


def test_once_the_code_is_ruled_out_its_own_results_are_not_asked_about():
    doubtful = inquiry_of(("head", "PF"), ("model", "FP"), ("mutant", "FP"))
    assert topic(doubtful, (DOCUMENTED, "yes")).question is None


def test_no_more_is_asked_about_a_function_than_its_share():
    doubtful = inquiry_of(("head", "PF"), ("model", "FP"))
    assert topic(doubtful, (Assertion("f(9)", "_ == 9"), "undefined"), most=1).question is None


def test_the_function_least_asked_about_comes_next():
    doubtful = inquiry_of(("head", "PF"), ("model", "PP"))
    certain = inquiry_of(("head", "PP"))
    asked = topic(doubtful, (Assertion("f(9)", "_ == 9"), "undefined"))
    assert next_topic([topic(certain), asked, topic(doubtful)]) == (2, DOCUMENTED)
    assert next_topic([topic(certain)]) is None


def test_an_inquiry_is_kept_and_read_again():
    inquiry = inquiry_of(("head", "PF"), ("model", "FP"), ("mutant", "FX"))
    assert kept.from_json(kept.as_json(inquiry)) == inquiry
