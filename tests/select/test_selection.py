"""What is proposed passes, is stable and proves something; everything else is in the ledger with its reason."""

from __future__ import annotations

import pytest

from bot.domain import Reason
from bot.select.selection import Selection
from tests.select.conftest import SOURCE, Choose

CANDIDATE = """import os
import subprocess
import time

import pytest

from shop.prices import clamp, label, remember

seen = []


@pytest.mark.parametrize(("value", "expected"), [(5, 3), (-1, 0), (2, 2), (5, 3), (9, 4)])
def test_clamp(value, expected):
    assert clamp(value, 0, 3) == expected


def test_clamp_says_what_its_docstring_says():
    assert clamp(-1, 0, 3) == 1


def test_label():
    assert label(0) == "free"


def test_label_again():
    assert label(0) == "free"


def test_label_calls():
    label(3)


def test_label_ok():
    assert label(4) == "4 EUR"


def test_label_broken():
    assert label(None).missing


def test_fills():
    seen.append(1)
    assert label(1) == "1 EUR"


def test_needs_the_one_before():
    assert seen == [1]
    assert label(2) == "2 EUR"


def test_hash():
    assert label(hash("b") % 2) == "free"


def test_starts_a_process():
    assert subprocess.run(["true"]).returncode == 0


def test_slow():
    time.sleep(0.8)
    assert label(7) == "7 EUR"


def test_skipped():
    pytest.skip("not here")
"""


@pytest.fixture(scope="module")
def module_choice(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> dict[str, Selection]:
    """Hold one selection that several tests look at."""
    return {}


@pytest.fixture
def mixed(module_choice: dict[str, Selection], choose: Choose) -> Selection:
    """Return the selection from a candidate with a test of every kind."""
    if "mixed" not in module_choice:
        module_choice["mixed"] = choose(CANDIDATE, slow_s=0.5)
    return module_choice["mixed"]


def reasons(selection: Selection) -> dict[str, Reason | None]:
    return {row.id.partition("::")[2]: row.reason for row in selection.ledger}


def test_every_test_of_the_candidate_has_one_row_in_the_ledger(mixed: Selection) -> None:
    names = [row.id for row in mixed.ledger]
    assert len(names) == len(set(names)) == 17


@pytest.mark.parametrize(
    ("test", "reason"),
    [
        ("test_clamp[9-4]", Reason.FAILS),
        ("test_clamp_says_what_its_docstring_says", Reason.SUSPECTED_BUG),
        ("test_label_again", Reason.DUPLICATE),
        ("test_label_calls", Reason.HOLLOW),
        ("test_label_broken", Reason.FAILS),
        ("test_needs_the_one_before", Reason.FLAKY),
        ("test_hash", Reason.FLAKY),
        ("test_starts_a_process", Reason.UNSAFE),
        ("test_slow", Reason.SLOW),
        ("test_skipped", Reason.ADDS_NOTHING),
    ],
)
def test_a_test_is_rejected_for_its_own_reason(mixed: Selection, test: str, reason: Reason) -> None:
    assert reasons(mixed)[test] is reason


def test_the_suspected_bug_is_told_with_what_was_expected_and_what_was_observed(mixed: Selection) -> None:
    (bug,) = mixed.suspected_bugs
    assert (bug.function, bug.expected, bug.observed) == ("clamp", "clamp(-1, 0, 3) == 1", "0")


def test_the_delivered_file_holds_nothing_that_only_rejected_tests_used(mixed: Selection) -> None:
    assert mixed.suite is not None
    for gone in ("subprocess", "import time", "import os", "remember", "test_slow"):
        assert gone not in mixed.suite.content


def test_each_kept_test_has_evidence_and_was_run_at_least_six_times(mixed: Selection) -> None:
    kept = [row for row in mixed.ledger if row.kept]
    assert kept
    assert all(row.lines_gained or row.mutants_killed for row in kept)
    assert all(row.runs >= 6 for row in kept)


def test_coverage_and_mutation_score_rise_from_nothing(mixed: Selection) -> None:
    assert mixed.coverage.file.before == 0.0
    assert (mixed.coverage.file.after or 0) > 0.8
    assert mixed.mutation.before.score == 0.0
    assert (mixed.mutation.after.score or 0) > 0.5


def test_a_target_without_tests_gets_a_new_file(mixed: Selection) -> None:
    assert mixed.suite is not None
    assert (mixed.suite.path, mixed.suite.is_new) == ("tests/test_prices.py", True)


@pytest.mark.slow
def test_the_same_candidate_gives_the_same_file(choose: Choose, mixed: Selection) -> None:
    again = choose(CANDIDATE, slow_s=0.5)
    assert again.suite == mixed.suite
    assert [(row.id, row.reason, row.mutants_killed) for row in again.ledger] == [
        (row.id, row.reason, row.mutants_killed) for row in mixed.ledger
    ]


EXISTING = """from shop.prices import clamp


def test_clamp():
    assert clamp(5, 0, 3)  ==  3
"""


def test_an_existing_file_is_extended_with_what_it_does_not_show_yet(choose: Choose) -> None:
    candidate = (
        "from shop.prices import clamp, label\n\n\ndef test_high():\n    assert clamp(5, 0, 3) == 3\n\n\n"
        "def test_clamp():\n    assert clamp(-2, 0, 3) == 0\n\n\ndef test_label():\n    assert label(0) == 'free'\n"
    )
    selection = choose(candidate, files={"tests/test_prices.py": EXISTING})
    assert selection.suite is not None
    assert selection.suite.path == "tests/test_prices.py"
    assert not selection.suite.is_new
    assert "    assert clamp(5, 0, 3)  ==  3\n" in selection.suite.content
    assert selection.suite.content.startswith("from shop.prices import clamp, label\n")
    assert [row.id for row in selection.ledger if row.kept] == [
        "tests/test_prices.py::test_clamp_behaviour",
        "tests/test_prices.py::test_label",
    ]
    assert reasons(selection)["test_high"] is Reason.DUPLICATE
    assert 0 < (selection.coverage.file.before or 0) < (selection.coverage.file.after or 0)


def test_on_base_tells_what_shows_the_change_from_what_guards_it_and_red_tests_are_set_aside(
    choose: Choose,
) -> None:
    candidate = (
        "from shop.prices import clamp, label\n\n\ndef test_clamp():\n    assert clamp(5, 0, 3) == 3\n\n\n"
        "def test_label():\n    assert label(0) == 'free'\n"
    )
    files = {"tests/test_other.py": "def test_red():\n    assert False\n\n\ndef test_green():\n    pass\n"}
    old = SOURCE.replace('"free"', '"nothing"')
    selection = choose(candidate, files=files, base={"shop/prices.py": old})
    assert {row.id.partition("::")[2]: row.on_base for row in selection.ledger} == {
        "test_clamp": "passed",
        "test_label": "failed",
    }


def test_nothing_is_proposed_when_nothing_is_left(choose: Choose) -> None:
    selection = choose("def test_nothing():\n    assert True\n")
    assert selection.suite is None
    assert [row.reason for row in selection.ledger] == [Reason.HOLLOW]
    assert selection.mutation.before.score == selection.mutation.after.score == 0.0


@pytest.mark.parametrize(
    ("candidate", "note"),
    [("def test_a(:\n", "parse"), ("import missing_module\n\n\ndef test_a():\n    pass\n", "missing_module")],
)
def test_a_candidate_that_cannot_be_read_or_imported_is_an_error(
    choose: Choose, candidate: str, note: str
) -> None:
    selection = choose(candidate)
    assert selection.suite is None
    (row,) = selection.ledger
    assert row.reason is Reason.ERRORS
    assert note in row.note


@pytest.mark.slow
def test_a_test_that_litters_the_tree_is_unsafe(choose: Choose) -> None:
    source = (
        SOURCE
        + "\n\ndef dump(text):\n    with open('dump.txt', 'w') as file:\n        file.write(text)\n    return len(text)\n"
    )
    candidate = (
        "from shop.prices import dump, label\n\n\ndef test_dump():\n    assert dump('ab') == 2\n\n\n"
        "def test_label():\n    assert label(0) == 'free'\n"
    )
    selection = choose(candidate, source=source)
    assert reasons(selection) == {"test_dump": Reason.UNSAFE, "test_label": None}


@pytest.mark.slow
def test_a_test_that_breaks_an_existing_one_is_flaky(choose: Choose) -> None:
    files = {
        "shop/calls.py": "",
        "tests/test_calls.py": "from shop.prices import CALLS\n\n\ndef test_first():\n    assert CALLS == []\n",
    }
    candidate = (
        "from shop.prices import CALLS, label, remember\n\n\ndef test_more():\n    size = len(CALLS)\n"
        "    assert remember('b') == size + 1\n\n\ndef test_label():\n    assert label(0) == 'free'\n"
    )
    selection = choose(candidate, files=files)
    assert reasons(selection) == {"test_more": Reason.FLAKY, "test_label": None}


def test_without_mutants_lines_alone_decide(choose: Choose) -> None:
    candidate = (
        "from shop.prices import label\n\n\ndef test_free():\n    assert label(0) == 'free'\n\n\n"
        "def test_one():\n    assert label(1) == '1 EUR'\n\n\ndef test_two():\n    assert label(2) == '2 EUR'\n"
    )
    selection = choose(candidate, with_mutants=False)
    assert reasons(selection) == {"test_free": None, "test_one": None, "test_two": Reason.ADDS_NOTHING}
    assert selection.mutation.after.score is None


def test_of_a_hundred_cases_the_few_that_prove_something_are_kept(choose: Choose) -> None:
    rows = ", ".join(f"({number}, {min(max(number, 0), 3)})" for number in range(-40, 60))
    candidate = (
        "import pytest\n\nfrom shop.prices import clamp\n\n\n"
        f'@pytest.mark.parametrize(("value", "expected"), [{rows}])\n'
        "def test_clamp(value, expected):\n    assert clamp(value, 0, 3) == expected\n"
    )
    selection = choose(candidate)
    assert len(selection.ledger) == 100
    assert 2 <= sum(row.kept for row in selection.ledger) <= 8
