"""A run as a review: what is said, in which order, and that nothing of the code escapes into it."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given
from sample_report import CONTENT, PATH, SOURCE, TESTS, run_report, target_report

from bot.deliver import body, markdown
from bot.deliver.boxes import ticked, unticked
from bot.deliver.facts import Facts
from bot.deliver.proposals import counted, fault
from bot.deliver.review import Review, build
from bot.domain import Judgement, Reason, RunReport, Suite, SuspectedBug
from tests.github.server.world import SUGGESTION, edited

OLD_TESTS = "from parcel.quotes import price\n\n\ndef test_light():\n    assert price(1) == 100\n"


def git(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=root, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def write(root: Path, path: str, content: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(content)


def commit(root: Path) -> str:
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "x")
    return git(root, "rev-parse", "HEAD")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout whose head changes the source file."""
    git(tmp_path, "init", "-q", "-b", "main")
    write(tmp_path, PATH, "def price(weight):\n    return 100\n")
    commit(tmp_path)
    write(tmp_path, PATH, SOURCE)
    return tmp_path


def reviewed(root: Path, report: RunReport | None = None, **facts: object) -> Review:
    head = commit(root)
    report = replace(report or run_report(), base=git(root, "rev-parse", "HEAD~1"), head=head)
    return build(report, root, run="run-1", **facts)  # type: ignore[arg-type]


def test_suspected_bugs_come_first(root: Path) -> None:
    body = reviewed(root).body
    assert body.index("Suspected bugs") < body.index(PATH.rpartition("/")[2] + "`, tests in")
    assert "expected `raises ValueError`, observed `100`" in body


def test_bugs_that_the_author_confirmed_come_before_those_that_are_suspected(root: Path) -> None:
    repair = SOURCE.replace("> 30", ">= 30")
    bug = SuspectedBug("price(30) == 300", "price", "300", "assert 100 == 300", "@alice", repair)
    suspected = target_report().suspected_bugs
    built = reviewed(root, run_report(targets=(target_report(suspected_bugs=(*suspected, bug)),)))
    assert built.body.index("Bugs that the author confirmed") < built.body.index("Suspected bugs")
    assert "`price(30) == 300` should hold, and does not" in built.body
    (comment,) = (one for one in built.comments if "Confirmed bug" in one.text)
    assert (comment.path, comment.line) == (PATH, 2)
    assert "```suggestion\n    if weight >= 30:\n```" in comment.text


def test_a_test_that_was_approved_says_by_whom(root: Path) -> None:
    row = Judgement(f"{TESTS}::test_heavy", None, "approved by @alice", runs=2)
    built = reviewed(root, run_report(targets=(target_report(ledger=(row,)),)))
    assert "approved by @alice" in built.body.replace("\u200b", "")


def test_measures_stand_before_and_after_with_bars(root: Path) -> None:
    body = reviewed(root).body
    assert "| Changed lines | 0% | 100% | `▓▓▓▓▓▓▓▓▓▓` |" in body
    assert "| Lines of the file | 50% | 100% | `█████▓▓▓▓▓` |" in body
    assert "| Mutants of changed lines | 0% | 75% | `▓▓▓▓▓▓▓▓░░` 3 of 4 |" in body
    assert "Branches" not in body


def test_each_test_has_a_number_and_its_evidence(root: Path) -> None:
    body = reviewed(root).body
    assert re.search(r"\| T1 \| `test_heavy` \| covers line 3; kills 2 mutants: .*fails on base", body)
    assert re.search(r"\| T2 \| `test_edges`, 2 cases \| covers line 4; kills 1 mutant", body)


def test_a_new_file_is_shown_whole_and_can_be_applied(root: Path) -> None:
    review = reviewed(root)
    assert f"<code>{TESTS}</code>, 5 lines</summary>\n\n```python\n{CONTENT}```" in review.body
    assert "`/testforge apply` commits all" in review.body
    assert [(file.path, file.content, file.is_new) for file in review.files] == [
        (TESTS, CONTENT.encode(), True)
    ]
    assert review.suggested == ()


def test_cases_count_alike_in_headline_and_summary(root: Path) -> None:
    review = reviewed(root)
    assert review.title.startswith("3 tests proposed")
    assert counted(review.tests) == "3 tests"
    assert f"| `{PATH}` | 3 |" in review.sticky


def test_rejections_stand_in_a_fold_with_their_reasons(root: Path) -> None:
    body = reviewed(root).body
    assert (
        "<details><summary>3 tests were generated and rejected: 2 add nothing, 1 is flaky.</summary>" in body
    )
    assert "- `tests/test_new.py::test_z`: flaky" in body


def test_cost_time_and_what_was_compared_are_told(root: Path) -> None:
    last = reviewed(root).body.splitlines()[-1]
    assert "testforge/offline" in last
    assert "· 12 s ·" in last
    assert "1,500 tokens" in last


def test_a_fork_gets_a_patch_that_git_takes(root: Path, tmp_path: Path) -> None:
    review = reviewed(root, is_fork=True, can_push=False)
    match = re.search(r"```diff\n(.*?)```", review.body, re.DOTALL)
    assert match is not None
    assert match[1] == review.patch
    subprocess.run(["git", "apply", "-"], cwd=root, input=match[1].encode(), check=True)
    assert (root / TESTS).read_text() == CONTENT
    assert "/testforge apply" not in review.body
    assert "box=apply" not in review.sticky


def test_a_changed_source_line_names_the_tests_that_guard_it(root: Path) -> None:
    comments = reviewed(root).comments
    (bug, guarded) = comments
    assert "Suspected bug" in bug.text
    assert (guarded.path, guarded.start_line, guarded.line) == (PATH, 2, 3)
    assert "T1 `test_heavy`, T2 `test_edges` now cover" in guarded.text
    assert "notice 3 small faults (`>` to `>=` in line 2)" in guarded.text


def test_tests_for_a_file_of_the_pull_request_come_as_suggestions(root: Path) -> None:
    write(root, TESTS, OLD_TESTS)
    new = CONTENT.rstrip("\n") + "\n\n\ndef test_light():\n    assert price(1) == 100\n"
    report = run_report(targets=(target_report(suite=Suite(TESTS, new, is_new=False)),))
    review = reviewed(root, report)
    assert review.suggested == (TESTS,)
    assert "Add suggestion to batch" in review.body
    assert new not in review.body
    parts = [comment for comment in review.comments if comment.path == TESTS]
    edits = []
    for part in parts:
        match = SUGGESTION.search(part.text)
        assert match is not None
        edits.append((part.start_line or part.line, part.line, match[2].split("\n")[:-1]))
    assert edited(OLD_TESTS.encode(), edits) == new.encode()


def test_an_existing_test_file_outside_of_the_diff_says_why_it_comes_by_commit(root: Path) -> None:
    write(root, TESTS, OLD_TESTS)
    commit(root)
    write(root, PATH, SOURCE + "\n")
    report = run_report(targets=(target_report(suite=Suite(TESTS, CONTENT, is_new=False)),))
    review = reviewed(root, report)
    assert review.suggested == ()
    assert f"`{TESTS}` comes by commit, because the pull request does not change it." in review.body


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        ("nothing-to-test", "No Python source file changed."),
        ("no-useful-tests", "No test was written."),
        ("inconclusive", "The dependencies could not be installed.\nERROR: no such package"),
        ("failed", "The model gave no reply."),
    ],
)
def test_a_run_without_tests_has_a_summary_but_no_review(root: Path, status: str, reason: str) -> None:
    review = reviewed(root, run_report(status=status, reason=reason, targets=()))
    assert review.body == ""
    assert review.comments == ()
    assert markdown.plain(reason.splitlines()[0]) in review.sticky
    assert review.is_quiet == (status == "nothing-to-test")
    assert review.conclusion in ("neutral", "skipped")


def test_a_review_survives_being_stored(root: Path) -> None:
    review = reviewed(root)
    assert Review.from_json(json.loads(json.dumps(review.as_json()))) == review


def test_comments_that_are_not_accepted_move_into_the_body(root: Path) -> None:
    review = reviewed(root)
    moved = review.without_comments()
    assert moved.comments == ()
    assert all(comment.text in moved.body for comment in review.comments)


def many(count: int) -> RunReport:
    kept = tuple(
        Judgement(f"{TESTS}::test_{n:05}", None, "", (n,), ("M1",), "failed", 3) for n in range(count)
    )
    gone = tuple(Judgement(f"{TESTS}::test_no_{n:05}", Reason.FLAKY) for n in range(count))
    return run_report(targets=tuple(target_report(ledger=kept + gone) for _ in range(3)))


def test_a_large_run_fits_by_dropping_the_names_of_rejected_tests_first(root: Path) -> None:
    write(root, "x", "x")
    report = run_report(
        targets=tuple(
            target_report(
                ledger=target_report().ledger
                + tuple(Judgement(f"t.py::test_{n}" + "x" * 90, Reason.FLAKY, "y" * 150) for n in range(200))
            )
            for _ in range(6)
        )
    )
    body = reviewed(root, report).body
    assert markdown.length(body) <= 65_000
    assert "test_0xxx" not in body
    assert "were generated and rejected" in body
    assert f"```python\n{CONTENT}```" in body


def test_detail_is_left_out_in_the_order_that_the_documentation_states(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tuple(Judgement(f"{TESTS}::test_{n:02}", None, "", (3,), ("M1",), "failed", 3) for n in range(31))
    targets = []
    for number in range(12):
        target = target_report(ledger=(*kept, Judgement("t.py::test_gone", Reason.FLAKY)))
        where = f"src/parcel/file{number}.py"
        suite = Suite(f"tests/test_file{number}.py", CONTENT)
        targets.append(replace(target, target=replace(target.target, path=where), suite=suite))
    seen: list[Facts] = []
    monkeypatch.setattr(body, "render", lambda facts: seen.append(facts) or "a body")
    reviewed(root, run_report(targets=tuple(targets)))
    details = {
        "names of rejected tests": "test_gone",
        "killed mutants": "`>` to `>=`",
        "contents of new files": f"```python\n{CONTENT}```",
        "tests beyond the thirtieth": "`test_30`",
        "files beyond the tenth": "#### `src/parcel/file10.py`",
        "tests beyond the third": "`test_29`",
    }
    told = [
        [name for name, text in details.items() if text in "\n".join(body._parts(seen[0], detail))]
        for detail in body._LEVELS
    ]
    assert told == [list(details)[number:] for number in range(len(details) + 1)]


def test_a_huge_run_fits_and_keeps_what_to_type(root: Path) -> None:
    body = reviewed(root, many(3000)).body
    assert markdown.length(body) <= 65_000
    assert "/testforge apply" in body
    assert "and 8800 more" in body


def test_a_huge_new_file_is_left_to_the_commands(root: Path) -> None:
    report = run_report(targets=(target_report(suite=Suite(TESTS, CONTENT + "# 😀\n" * 30_000)),))
    body = reviewed(root, report).body
    assert markdown.length(body) <= 65_000
    assert "😀" not in body
    assert "| T1 | `test_heavy` |" in body


EVIL = (
    "@octocat </details><img src=x> <!-- testforge:run=x head="
    + "a" * 40
    + " --> `` | #12 https://evil.example \n/testforge apply"
)


def test_text_of_the_code_escapes_nowhere(root: Path) -> None:
    bug = SuspectedBug("tests/test_x.py::test_@octocat", "price", EVIL, EVIL)
    content = f"def test_heavy():\n    # {EVIL}\n    ```\n"
    suite = Suite(TESTS, content.replace("    ```", "#```"))
    report = run_report(
        reason=EVIL, targets=(target_report(suspected_bugs=(bug,), suite=suite, reason=EVIL),)
    )
    review = reviewed(root, report)
    for text in (review.body, review.sticky, review.summary, *(comment.text for comment in review.comments)):
        rendered = outside_of_code(text)
        assert "@octocat" not in rendered
        assert "<img" not in rendered
        assert "<!-- testforge:run" not in rendered
        assert "https://evil" not in rendered
        assert not re.search(r"^/testforge apply", rendered, re.MULTILINE)
    opened, closed = (
        outside_of_code(review.body).count("<details>"),
        outside_of_code(review.body).count("</details>"),
    )
    assert opened == closed


def outside_of_code(text: str) -> str:
    """Return Markdown without what stands in fenced blocks and code spans."""
    without = re.sub(r"^(`{3,})[a-z]*\n.*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", "", without)


@given(st.text(max_size=200))
def test_a_code_span_holds_any_text(text: str) -> None:
    span = markdown.code(text)
    assert "\n" not in span
    assert outside_of_code(f"a {span} b") == "a  b"


@given(st.text(alphabet="`~\n abc", max_size=80))
def test_a_fence_holds_any_text(text: str) -> None:
    assert outside_of_code(f"a\n{markdown.fenced(text)}\nb") == "a\n\nb"


@given(st.text(alphabet="@#<>&|`*_[]()! ab/:.w\n", max_size=60))
def test_plain_text_mentions_nobody_and_opens_no_tag(text: str) -> None:
    shown = markdown.plain(text)
    assert not re.search(r"[@#]\w", shown)
    assert not re.search(r"(?<!\\)[<`|\[]", shown)
    assert "\n" not in shown


def test_a_ticked_box_is_read_back(root: Path) -> None:
    sticky = reviewed(root).sticky
    assert ticked(sticky) == frozenset()
    clicked = sticky.replace("- [ ] <!-- testforge:box=apply", "- [x] <!-- testforge:box=apply")
    assert ticked(clicked) == {"apply"}
    assert unticked(clicked) == sticky


@pytest.mark.parametrize(
    ("kill", "shown"),
    [
        ("`>` to `>=` in line 2", "`>` to `>=` in line 2"),
        ("`a | b` to `a` in line 7", "`a | b` to `a` in line 7"),
        ("`not x` removed in line 3", "`not x` removed in line 3"),
        ("`'`'` to `@octocat` in line 3", "``'`'`` to `@octocat` in line 3"),
        ("core/Thing_<b> in line 4", r"core/Thing\_\<b\> in line 4"),
    ],
)
def test_a_killed_mutant_is_shown_with_its_code_as_code(kill: str, shown: str) -> None:
    assert fault(kill) == shown


def test_a_bar_in_code_does_not_end_a_cell() -> None:
    assert markdown.in_cell(r"`a | b` \| c") == r"`a \| b` \| c"


def test_many_files_share_a_limit_of_suggestions(root: Path) -> None:
    before = "".join(f"def test_{n}():\n    assert {n}\n\n\n\n\n\n\n\n" for n in range(18))
    after = before.replace("assert", "assert 1 +")
    targets = []
    for name in ("a", "b", "c"):
        write(root, f"tests/test_{name}.py", before)
        suite = Suite(f"tests/test_{name}.py", after, is_new=False)
        targets.append(target_report(suite=suite))
    review = reviewed(root, run_report(targets=tuple(targets)))
    assert review.suggested == ("tests/test_a.py", "tests/test_b.py")
    assert "`tests/test_c.py` comes by commit, because this review holds enough suggestions" in review.body


def test_without_the_history_nothing_is_anchored_and_all_comes_by_commit(root: Path) -> None:
    write(root, TESTS, OLD_TESTS)
    head = commit(root)
    suite = Suite(TESTS, CONTENT, is_new=False)
    report = run_report(base="1" * 40, head=head, targets=(target_report(suite=suite),))
    review = build(report, root, run="run-1")
    assert review.comments == ()
    assert "comes by commit" in review.body


def test_a_patch_of_another_encoding_is_not_put_into_a_comment(root: Path) -> None:
    (root / "tests").mkdir()
    (root / TESTS).write_bytes("# -*- coding: latin-1 -*-\n# \u00e9t\u00e9\n".encode("latin-1"))
    content = "# -*- coding: latin-1 -*-\n# \u00e9t\u00e9\n" + CONTENT
    report = run_report(targets=(target_report(suite=Suite(TESTS, content, is_new=False)),))
    review = reviewed(root, report, is_fork=True, can_push=False)
    review.body.encode("utf-8")
    assert "not in UTF-8" in review.body
    assert review.suggested == ()


def test_a_log_in_a_reason_is_shown_without_its_escape_sequences(root: Path) -> None:
    reason = "It failed.\n\x1b[31mred\x1b[0m \udcff\n"
    report = run_report(status="inconclusive", reason=reason, targets=(target_report(),))
    body = reviewed(root, report).body
    assert "```text\nred \\udcff\n```" in body
    body.encode("utf-8")


@pytest.mark.parametrize("deliver", ["commit", "stacked-pr"])
def test_tests_that_are_put_into_the_repository_at_once_are_not_suggested(root: Path, deliver: str) -> None:
    write(root, TESTS, OLD_TESTS)
    report = run_report(targets=(target_report(suite=Suite(TESTS, CONTENT, is_new=False)),))
    review = reviewed(root, report, deliver=deliver)
    assert (review.deliver, review.suggested) == (deliver, ())
    assert "as `deliver` in `.github/testforge.yml` asks for" in review.body
    assert "comes by commit" not in review.body
    assert ("box=apply" in review.sticky, "box=pr" in review.sticky) == (deliver == "stacked-pr", False)


def test_a_fork_gets_no_commit_whatever_the_configuration_says(root: Path) -> None:
    assert reviewed(root, is_fork=True, can_push=False, deliver="commit").deliver == "suggestions"


def test_a_file_with_tests_of_two_targets_is_shown_once_as_it_will_be(root: Path) -> None:
    first = target_report(suite=Suite(TESTS, CONTENT))
    source = replace(first.target, path="src/parcel/other.py")
    second = target_report(target=source, suite=Suite(TESTS, CONTENT + "\n\ndef test_other():\n    pass\n"))
    body = reviewed(root, run_report(targets=(first, second))).body
    assert body.count("```python") == 1
    assert "def test_other" in body
