"""The report for a person, in plain text and on a terminal."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console, ConsoleRenderable
from sample_report import PATH, TESTS, mutation, run_report, target_report

from bot.deliver import console
from bot.deliver.bars import Bars, Row, percent
from bot.deliver.wording import clean, describe, line_list, on_base, plural, rejections
from bot.domain import (
    Function,
    Judgement,
    Mutant,
    MutantOutcome,
    MutationDelta,
    Reason,
    RunReport,
    Skipped,
    SuspectedBug,
)


def printed(
    renderable: ConsoleRenderable, *, terminal: bool = False, width: int = 80, encoding: str = "utf-8"
) -> str:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="backslashreplace")
    Console(
        file=stream,
        width=width,
        force_terminal=terminal,
        markup=False,
        highlight=False,
        emoji=False,
        legacy_windows=False,
    ).print(renderable)
    stream.flush()
    return stream.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined]


def plain(report: RunReport, **options: object) -> str:
    return printed(console.render(report, **options))  # type: ignore[arg-type]


PLAIN = """\
3 tests proposed for 1 changed file; 1 suspected bug
aaaaaaaaa to the working tree, model testforge/offline, sandbox process

Suspected bug in price
  expected  raises ValueError
  observed  100
  shown by  tests/test_new.py::test_bug (not proposed: judge for yourself)

src/parcel/quotes.py
  changed: price
  new file tests/test_quotes.py
  + test_heavy
      covers line 3; kills 2 mutants: `>` to `>=` in line 2, `>` to `>=` in line
      2; fails on base, so it shows the change
  + test_edges (2 cases)
      covers line 4; kills 1 mutant: `>` to `>=` in line 2; passes on base, so
      it guards against regression

  changed lines       0% -> 100%  [++++++++++++++++]
  file's lines       50% -> 100%  [########++++++++]
  mutants, changed    0% ->  75%  [++++++++++++....]  3 of 4

  3 tests rejected: 2 add nothing, 1 is flaky

1 existing test failed before anything was added; set aside
  tests/test_old.py::test_broken

Not tested
  docs/conf.py configures the documentation

Took 12 s, 1,500 tokens, $0.
Nothing was written. Add --apply to write the tests, or --patch FILE for a
patch.
"""


def test_the_whole_report_in_plain_text():
    assert plain(run_report()) == PLAIN


def test_plain_text_has_no_escape_sequences_and_only_ascii():
    assert plain(run_report()).isascii()
    assert "\x1b" not in plain(run_report())


def test_a_terminal_gets_colours_and_drawn_bars():
    text = printed(console.render(run_report()), terminal=True)
    assert "\x1b[" in text
    assert "█" in text


def test_a_terminal_without_utf8_gets_ascii_bars():
    text = printed(console.render(run_report()), terminal=True, encoding="ascii")
    assert "[########++++++++]" in text.replace("\x1b[34m", "").replace("\x1b[32m", "").replace("\x1b[0m", "")
    assert "\\u" not in text


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_no_line_is_wider_than_the_terminal(width):
    text = printed(console.render(run_report()), width=width)
    assert max(map(len, text.splitlines())) <= width


def test_what_all_tests_do_on_base_is_said_once():
    rows = tuple(Judgement(f"t.py::test_{name}", None, on_base="failed") for name in "abc")
    text = plain(run_report(targets=(target_report(ledger=rows),)))
    assert text.count("on base") == 1
    assert "  all fail on base, so they show the change\n" in text


def test_suspected_bugs_come_before_the_targets():
    text = plain(run_report(targets=(target_report(suspected_bugs=()), target_report())))
    assert text.index("Suspected bug") < text.index(PATH)


def test_a_red_baseline_is_told_once_for_all_targets():
    text = plain(run_report(targets=(target_report(), target_report())))
    assert text.count("tests/test_old.py::test_broken") == 1


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        ("nothing-to-test", "Nothing to test"),
        ("no-useful-tests", "No test was found that proves anything beyond the existing ones"),
        ("inconclusive", "Inconclusive: the tests could not be run"),
        ("failed", "Failed"),
        ("cancelled", "Cancelled; 0 tests found until then"),
    ],
)
def test_a_run_without_tests_says_why(status, sentence):
    lines = plain(run_report(status=status, reason="because of this", targets=(), skipped=())).splitlines()
    assert lines[:2] == [sentence, "because of this"]


def test_a_cancelled_run_tells_what_was_found():
    text = plain(run_report(status="cancelled", reason="stopped before it was done"))
    assert text.startswith("Cancelled; 3 tests found until then; 1 suspected bug\n")
    assert "test_heavy" in text


def test_a_reason_with_a_log_shows_the_logs_end():
    log = "\n".join(f"line {number}" for number in range(40))
    text = plain(run_report(status="inconclusive", reason=f"pip could not install it.\n{log}", targets=()))
    assert "pip could not install it.\n    (25 lines before these)\n    line 25\n" in text
    assert "line 39" in text


def test_what_was_written_is_told():
    text = plain(run_report(), applied=[TESTS], patch="out.patch")
    assert f"Written: {TESTS}.\n" in text
    assert "git apply out.patch" in text
    assert "--apply" not in text


def test_a_whole_file_shows_each_measure_once():
    target = replace(target_report().target, whole_file=True)
    delta = MutationDelta(mutation(MutantOutcome.SURVIVED), mutation(MutantOutcome.KILLED))
    report = run_report(
        base=None, targets=(target_report(target=target, mutation_changed=delta, mutation_file=delta),)
    )
    text = plain(report)
    assert "changed lines" not in text
    assert "mutants, changed" not in text
    assert "mutants, file" in text
    assert "whole file, 1 function\n" in text


def test_a_score_from_a_sample_says_so():
    before, killed = mutation(MutantOutcome.SURVIVED), MutantOutcome.KILLED
    whole = MutationDelta(before, mutation(killed, MutantOutcome.EQUIVALENT, sampled_from=1))
    sample = MutationDelta(before, mutation(killed, MutantOutcome.EQUIVALENT, sampled_from=2))
    assert "1 of 1\n" in plain(run_report(targets=(target_report(mutation_changed=whole),)))
    assert "1 of 1, sampled\n" in plain(run_report(targets=(target_report(mutation_changed=sample),)))


def test_a_measure_that_is_missing_before_is_a_question_mark():
    delta = MutationDelta(mutation(), mutation(MutantOutcome.KILLED))
    assert "   ? -> 100%" in plain(run_report(targets=(target_report(mutation_changed=delta),)))


def test_functions_of_one_name_are_listed_once():
    functions = (Function("A.size", 1, 2, 3), Function("A.size", 4, 5, 6), Function("A.area", 7, 8, 9))
    target = replace(target_report().target, functions=functions)
    assert "changed: A.size, A.area\n" in plain(run_report(targets=(target_report(target=target),)))


def test_text_of_a_repository_cannot_steer_the_terminal_or_the_markup():
    evil = "[bold red]x[/] \x1b[31mred\x1b]0;title\x07 \r\b\u202e:smile:"
    target = replace(target_report().target, path=f"src/{evil}.py", functions=(Function(evil, 1, 2, 3),))
    report = run_report(
        reason=evil,
        status="cancelled",
        model=evil,
        skipped=(Skipped(evil, evil),),
        targets=(
            target_report(
                target=target,
                ledger=(Judgement(f"t.py::test[{evil}]", None, mutants_killed=(evil,)),),
                suspected_bugs=(SuspectedBug(evil, evil, evil, evil),),
                red_tests=(evil,),
            ),
        ),
    )
    for terminal in (False, True):
        text = printed(console.render(report), terminal=terminal, width=200)
        assert "[bold red]x[/] red :smile:" in text
        for bad in ("\x1b[31mred", "title", "\r", "\b", "\u202e"):
            assert bad not in text


@settings(max_examples=300, deadline=None)
@given(st.text())
def test_clean_text_is_one_printable_line(text):
    found = clean(text)
    assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in found)
    found.encode()
    assert clean(found) == found


@pytest.mark.parametrize(
    ("diff", "words"),
    [
        ("-    return x + 1\n+    return x - 1", "`+` to `-` in line 7"),
        ("-    x = 10\n+    x = 11", "`10` to `11` in line 7"),
        ("-@cache\n", "`@cache` removed in line 7"),
        ("-    if x:\n+    if not x:", "`if x:` to `if not x:` in line 7"),
        ("-a = very_long_name_of_something\n+a = None", "`very_long_name_of_som...` to `None` in line 7"),
        ("", "core/Thing in line 7"),
        ("-a = '\x1b[31m'\n+a = 1", "`''` to `1` in line 7"),
    ],
)
def test_a_mutant_is_told_in_a_few_words(diff, words):
    assert describe(Mutant("M1", "a.py", "core/Thing", "f", 7, 7, 0, 1, "", diff)) == words


def test_rejections_are_counted_by_reason_the_most_frequent_first():
    reasons = [Reason.FLAKY, Reason.FAILS, Reason.FAILS, Reason.DUPLICATE, Reason.DUPLICATE]
    ledger = [Judgement("t", reason) for reason in reasons] + [Judgement("t", None)]
    assert rejections(ledger) == "2 are duplicates, 2 fail, 1 is flaky"


def test_every_reason_has_words():
    assert all(rejections([Judgement("t", reason)]) for reason in Reason)


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "?"), (0.0, "0%"), (0.001, "1%"), (0.5, "50%"), (0.999, "99%"), (1.0, "100%")],
)
def test_percent_is_exact_at_both_ends(value, text):
    assert percent(value) == text


def test_a_loss_is_not_drawn_as_a_gain():
    assert "[######..........]" in printed(Bars([Row("x", 0.8, 0.4)]))


def test_small_words():
    assert (plural(1, "test"), plural(1200, "test"), plural(2, "entry", "entries")) == (
        "1 test",
        "1,200 tests",
        "2 entries",
    )
    assert line_list(range(1, 40, 2)) == "1, 3, 5, 7, 9, 11 and more"
    assert on_base(None) == ""
    assert [console.seconds(value) for value in (0.04, 12.3, 59.6, 185)] == [
        "0.0 s",
        "12 s",
        "1 min 0 s",
        "3 min 5 s",
    ]
    assert [console.dollars(value) for value in (0, 0.0004, 0.63)] == ["$0", "$0.0004", "$0.63"]
