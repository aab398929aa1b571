"""The body of a review in Markdown: suspected bugs, then file by file what is proposed and proved, then what to type.

GitHub takes 65,536 characters. What does not fit is left out in this order: the names of rejected tests, the killed
mutants one by one, the new files' contents and the patch (commands deliver both), the evidence of tests beyond the
thirtieth of a file (never more than 200 are listed), files beyond the tenth (never more than 40), then all but three of each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.deliver.console import dollars, headline, seconds
from bot.deliver.facts import Facts
from bot.deliver.markdown import cell, code, fenced, fold, html, in_cell, length, plain, sendable
from bot.deliver.measures import table
from bot.deliver.proposals import Proposal, faults
from bot.deliver.remarks import Comment
from bot.deliver.repairs import repair
from bot.deliver.wording import clean, line_list, on_base, plural, rejections
from bot.domain import Suite, TargetReport

LONGEST = 65_000  # characters: GitHub's limit, less what a marker and a remark may add
_REJECTED_SHOWN = 60
_KILLS_SHOWN = 4


@dataclass(frozen=True, slots=True)
class _Detail:
    """How much is told."""

    rejected: bool = True
    kills: bool = True
    files: bool = True
    tests: int = 200
    targets: int = 40


_LEVELS = (
    _Detail(),
    _Detail(rejected=False),
    _Detail(rejected=False, kills=False),
    _Detail(rejected=False, kills=False, files=False),
    _Detail(rejected=False, kills=False, files=False, tests=30),
    _Detail(rejected=False, kills=False, files=False, tests=30, targets=10),
    _Detail(rejected=False, kills=False, files=False, tests=3, targets=3),
)


_DELIVERED = {
    "commit": ["All of them are committed to this branch, as `deliver` in `.github/testforge.yml` asks for."],
    "stacked-pr": [
        "They come as a pull request into this branch, as `deliver` in `.github/testforge.yml` asks for."
    ],
}


def title(facts: Facts) -> str:
    """Return the one sentence that sums the run up, without Markdown."""
    return headline(facts.report)


def render(facts: Facts) -> str:
    """Return the whole body, with as much detail as fits."""
    for detail in _LEVELS:
        text = "\n\n".join(part for part in _parts(facts, detail) if part)
        if length(text) <= LONGEST:
            return text
    return f"### {plain(title(facts))}"


def summary(facts: Facts) -> str:
    """Return what the check run shows: the same without the files."""
    parts = [
        *_reason(facts),
        *_bugs(facts),
        *_targets(facts, _Detail(rejected=False, kills=False, files=False)),
    ]
    text = "\n\n".join([f"### {plain(title(facts))}", *parts, _end(facts)])
    return text if length(text) <= LONGEST else f"### {plain(title(facts))}"


def with_comments(text: str, comments: Sequence[Comment]) -> str:
    """Return a body with what its comments would have said, as far as it fits."""
    told = "\n\n".join(
        f"{code(f'{comment.path}:{comment.line}')}\n\n{comment.text}" for comment in comments if comment.text
    )
    intro = "GitHub did not take the comments on single lines, so they stand here."
    whole = f"{text}\n\n{fold('Comments on lines', told)}"
    if comments and length(whole) + len(intro) + 2 <= LONGEST:
        return f"{whole}\n\n{intro}"
    return (
        f"{text}\n\nGitHub did not take the comments on single lines; `/testforge apply` commits the tests."
    )


def _parts(facts: Facts, detail: _Detail) -> Iterator[str]:
    """Yield the sections in their order."""
    yield f"### {plain(title(facts))}"
    yield from _reason(facts)
    yield from _bugs(facts)
    yield from facts.sections
    yield from _targets(facts, detail)
    yield from _patch(facts, detail)
    yield from _set_aside(facts)
    yield _to_do(facts)
    yield _end(facts)


def _reason(facts: Facts) -> Iterator[str]:
    """Yield why a run did not propose anything."""
    report = facts.report
    if report.reason and report.status != "proposed":
        first, *rest = report.reason.splitlines()
        yield plain(first)
        log = "\n".join(clean(line) for line in rest if line.strip())[-4000:]
        if log:
            yield fold("What was printed", fenced(log, "text"))


def _bugs(facts: Facts) -> Iterator[str]:
    """Yield the places where the code contradicts its author, then those where it contradicts its documentation."""
    confirmed, suspected, repairs = [], [], []
    for target in facts.report.targets:
        for name in dict.fromkeys(bug.function for bug in target.suspected_bugs if bug.repair):
            repaired = repair(target.target, name, target.suspected_bugs)
            if repaired and sendable(repaired.diff):
                repairs.append(fenced(repaired.diff, "diff"))
        for bug in target.suspected_bugs[:20]:
            where = f"- {code(bug.function)} in {code(target.target.path)}"
            if bug.confirmed_by:
                confirmed.append(f"{where}: {code(bug.test)} should hold, and does not: {code(bug.observed)}")
            else:
                suspected.append(
                    f"{where}: expected {code(bug.expected)}, "
                    f"observed {code(bug.observed)} (shown by {code(bug.test)}, which is not proposed)"
                )
    if confirmed:
        yield "**Bugs that the author confirmed.** The code does not do what was approved here."
        yield "\n".join(confirmed[:40])
    if repairs:
        yield fold("The smallest changes that agree with all answers", "\n\n".join(repairs[:10]))
    if suspected:
        yield "**Suspected bugs.** The code does not do what its documentation says. Which of the two is wrong is yours to judge."
        yield "\n".join(suspected[:40])


def _targets(facts: Facts, detail: _Detail) -> Iterator[str]:
    """Yield what was found out file by file."""
    targets = facts.report.targets
    for target in targets[: detail.targets]:
        yield from _target(facts, target, detail)
    if len(targets) > detail.targets:
        yield f"{plural(len(targets) - detail.targets, 'further file')} {'is' if len(targets) - detail.targets == 1 else 'are'} not shown here."


def _target(facts: Facts, target: TargetReport, detail: _Detail) -> Iterator[str]:
    """Yield what was found out about one file."""
    suite = target.suite
    where = ""
    if suite is not None and target.kept:
        where = f", tests in {code(suite.path)}{' (new)' if suite.is_new else ''}"
    yield f"#### {code(target.target.path)}{where}"
    if target.status != "proposed":
        first = next(iter(target.reason.splitlines()), "")
        yield plain(f"{target.status}: {first}" if first else target.status)
    yield table(target)
    tests = facts.tests_of(target.target.path)
    if tests:
        yield _evidence(tests, detail)
    if suite is not None and target is _last_of(facts, suite.path):
        yield from _file(facts, suite, detail)
    yield from _rejected(target, detail)


def _last_of(facts: Facts, path: str) -> TargetReport | None:
    """Return the last target with tests in a file: its suite holds those of the earlier ones, too."""
    own = [
        target
        for target in facts.report.targets
        if target.kept and target.suite and target.suite.path == path
    ]
    return own[-1] if own else None


def _file(facts: Facts, suite: Suite, detail: _Detail) -> Iterator[str]:
    """Yield a proposed file as far as nothing else shows it, and why it is not suggested line by line."""
    if detail.files and suite.path not in facts.suggested and not facts.is_fork:
        lines = len(suite.content.splitlines())
        language = "python" if suite.path.endswith(".py") else ""
        yield fold(
            f"<code>{html(suite.path)}</code>, {plural(lines, 'line')}", fenced(suite.content, language)
        )
    obstacle = facts.obstacles.get(suite.path)
    if obstacle:
        yield f"{code(suite.path)} comes by commit, because {obstacle}."


def _evidence(tests: Sequence[Proposal], detail: _Detail) -> str:
    """Return the table of tests."""
    rows = ["| | Test | Evidence |", "|---|---|---|"]
    for test in tests[: detail.tests]:
        cases = f", {plural(test.cases, 'case')}" if test.cases else ""
        rows.append(f"| {test.key} | {cell(test.name)}{cases} | {in_cell(_proof(test, detail))} |")
    if len(tests) > detail.tests:
        rows.append(f"| | and {len(tests) - detail.tests} more | |")
    return "\n".join(rows)


def _proof(test: Proposal, detail: _Detail) -> str:
    """Return what one test proves."""
    parts = [plain(test.approved)] if test.approved else []
    if test.lines:
        parts.append(f"covers line{'s' if len(test.lines) > 1 else ''} {line_list(test.lines)}")
    if test.kills:
        named = ""
        if detail.kills:
            named = f": {faults(test.kills, _KILLS_SHOWN)}"
        parts.append(f"kills {plural(len(test.kills), 'mutant')}{named}")
    if on_base(test.on_base):
        parts.append(on_base(test.on_base))
    return "; ".join(parts)


def _rejected(target: TargetReport, detail: _Detail) -> Iterator[str]:
    """Yield the tests that were generated and rejected, in a fold."""
    rows = [row for row in target.ledger if row.reason is not None]
    if not rows:
        return
    counted = f"{plural(len(rows), 'test was', 'tests were')} generated and rejected: {rejections(rows)}."
    if not detail.rejected:
        yield counted
        return
    named = [
        f"- {code(row.id)}: {row.reason}{f', {plain(row.note, 160)}' if row.note else ''}"
        for row in rows[:_REJECTED_SHOWN]
    ]
    if len(rows) > _REJECTED_SHOWN:
        named.append(f"- and {len(rows) - _REJECTED_SHOWN} more")
    yield fold(html(counted), "\n".join(named))


def _patch(facts: Facts, detail: _Detail) -> Iterator[str]:
    """Yield the patch, for forks: nothing can be committed there."""
    if not facts.is_fork or not facts.patch:
        return
    if detail.files and sendable(facts.patch):
        yield fold(
            "The tests as a patch: save it and run <code>git apply</code>", fenced(facts.patch, "diff")
        )
    else:
        yield "The tests cannot be shown here as a patch: it is too large, or not in UTF-8. The run's page and its record hold it."


def _set_aside(facts: Facts) -> Iterator[str]:
    """Yield existing tests that were red before, and changed files that need no tests."""
    red = list(dict.fromkeys(name for target in facts.report.targets for name in target.red_tests))
    if red:
        shown = ", ".join(code(name) for name in red[:5])
        more = f" and {len(red) - 5} more" if len(red) > 5 else ""
        yield f"{plural(len(red), 'existing test')} {'is' if len(red) == 1 else 'are'} red without the proposed ones and set aside: {shown}{more}."
    skipped = facts.report.skipped
    if skipped:
        rows = [f"- {code(one.path)} {plain(one.reason)}" for one in skipped[:30]]
        if len(skipped) > 30:
            rows.append(f"- and {len(skipped) - 30} more")
        yield fold(f"{plural(len(skipped), 'changed file')} with nothing to test", "\n".join(rows))


def _to_do(facts: Facts) -> str:
    """Return how to take the tests."""
    if not facts.tests:
        return ""
    ways = [*_DELIVERED.get(facts.deliver, ())]
    if facts.suggested:
        ways.append(
            "Accept the suggestions below: open **Files changed**, choose **Add suggestion to batch** on each, then commit the batch."
        )
    if facts.is_fork:
        ways.append("The head branch is in a fork, where the App cannot commit: apply the patch above.")
        ways.append(
            "`/testforge dismiss T1` keeps a test from coming back, `/testforge explain T1` tells more of it."
        )
        return "\n".join(f"- {way}" for way in ways)
    if facts.can_push and facts.deliver != "commit":
        ways.append(
            "`/testforge apply` commits all of them to this branch, `/testforge apply T1 T2` only those."
        )
    if facts.deliver == "suggestions":
        ways.append("`/testforge pr` opens a pull request into this branch instead.")
    ways.append(
        "`/testforge dismiss T1` keeps a test from coming back, `/testforge explain T1` tells more of it."
    )
    return "\n".join(f"- {way}" for way in ways)


def _end(facts: Facts) -> str:
    """Return what it took."""
    report = facts.report
    usage = report.usage
    tokens = plural(usage.prompt + usage.completion, "token")
    parts = [
        f"{code((report.head or '')[:9])} against {code((report.base or '')[:9])}",
        f"model {code(report.model)}",
        f"sandbox {code(report.sandbox)}",
        seconds(report.wall_s),
        tokens,
        dollars(usage.cost_usd),
    ]
    kills = sum(len(test.kills) for test in facts.tests)
    if usage.cost_usd and kills:
        parts.append(f"{dollars(usage.cost_usd / kills)} a killed mutant")
    page = f" · [this run]({facts.run_url})" if facts.run_url else ""
    return f"<sub>{' · '.join(parts)}{page} · `/testforge help`</sub>"
