"""Comments on lines of the diff: suggestions for test files, and for changed source lines the tests that now guard them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.deliver.anchors import Anchor, Anchors
from bot.deliver.facts import Facts
from bot.deliver.markdown import code, plain
from bot.deliver.proposals import Proposal, faults
from bot.deliver.repairs import repair
from bot.deliver.suggestions import Suggestion
from bot.deliver.wording import line_list, plural
from bot.domain import SuspectedBug, TargetReport

_MOST = 10  # comments on source lines in one review
_MOST_A_FILE = 4
_TESTS_SHOWN = 5
_KILLS_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment on lines `start_line` (None: only `line`) to `line` of a file at head; `text` is Markdown."""

    path: str
    line: int
    text: str
    start_line: int | None = None
    side: str = "RIGHT"


def on_tests(suggestions: Sequence[Suggestion]) -> tuple[Comment, ...]:
    """Return the comments that carry suggestions; the first of a file says what to do with them."""
    found = []
    for path in dict.fromkeys(suggestion.path for suggestion in suggestions):
        own = [suggestion for suggestion in suggestions if suggestion.path == path]
        for number, suggestion in enumerate(own, 1):
            if len(own) == 1:
                intro = "The proposed tests for this file."
            elif number == 1:
                intro = f"The proposed tests for this file, part 1 of {len(own)}. Add all parts to one batch: they belong together."
            else:
                intro = f"Part {number} of {len(own)}."
            anchor = Anchor(path, suggestion.first, suggestion.last)
            found.append(_comment(anchor, f"{intro}\n\n{suggestion.block}"))
    return tuple(found)


def on_sources(facts: Facts, anchors: Anchors) -> tuple[Comment, ...]:
    """Return the comments on changed source lines, few and merged: one for each function that tests now guard.

    Suspected bugs come first, then the functions with most behind them.
    """
    bugs = [comment for target in facts.report.targets for comment in _on_bugs(target, anchors)]
    ranked = sorted(
        (entry for target in facts.report.targets for entry in _on_functions(facts, target, anchors)),
        key=lambda entry: (-entry[0], entry[1].path, entry[1].line),
    )
    chosen: list[Comment] = []
    for _, comment in ranked:
        if sum(other.path == comment.path for other in chosen) < _MOST_A_FILE:
            chosen.append(comment)
    return tuple([*bugs, *chosen][:_MOST])


def _on_bugs(target: TargetReport, anchors: Anchors) -> list[Comment]:
    """Return comments where functions with bugs are defined, if the diff shows that line; repairs as suggestions."""
    found = []
    for name in dict.fromkeys(bug.function for bug in target.suspected_bugs):
        bugs = [bug for bug in target.suspected_bugs if bug.function == name]
        confirmed = [bug for bug in bugs if bug.confirmed_by]
        text = _on_confirmed(name, confirmed) if confirmed else _on_suspected(name, bugs)
        repaired = repair(target.target, name, bugs)
        suggestions = repaired.suggestions(anchors) if repaired else ()
        for number, suggestion in enumerate(suggestions):
            anchor = Anchor(suggestion.path, suggestion.first, suggestion.last)
            intro = text if number == 0 else "This belongs to the same repair; add both to one batch."
            found.append(_comment(anchor, f"{intro}\n\n{suggestion.block}"))
        anchor_ = None if suggestions else _definition(target, name, anchors)
        if anchor_ is not None:
            found.append(_comment(anchor_, text))
    return found


def _on_suspected(name: str, bugs: Sequence[SuspectedBug]) -> str:
    told = [f"- expected {code(bug.expected)}, observed {code(bug.observed)}" for bug in bugs]
    return f"**Suspected bug**: {code(name)} may not do what it says it does.\n" + "\n".join(told[:5])


def _on_confirmed(name: str, bugs: Sequence[SuspectedBug]) -> str:
    told = [f"- {code(bug.test)} should hold, says {plain(bug.confirmed_by)}" for bug in bugs]
    return f"**Confirmed bug**: {code(name)} does not do what was approved here.\n" + "\n".join(told[:5])


def _definition(target: TargetReport, name: str, anchors: Anchors) -> Anchor | None:
    """Return the first changed line of a function that can be commented on."""
    function = next((f for f in target.target.functions if f.qualname == name), None)
    if function is None:
        return None
    lines = [line for line in range(function.first, function.last + 1) if line in target.target.changed_lines]
    return next((a for line in lines if (a := anchors.at(target.target.path, line, line))), None)


def _on_functions(facts: Facts, target: TargetReport, anchors: Anchors) -> list[tuple[int, Comment]]:
    """Return a comment for each changed function that proposed tests guard, with how much there is behind it."""
    found = []
    path = target.target.path
    tests = facts.tests_of(path)
    for name in dict.fromkeys(function.qualname for function in target.target.functions):
        own = [test for test in tests if name in test.functions]
        spans = [f for f in target.target.functions if f.qualname == name]
        within = {line for span in spans for line in range(span.first, span.last + 1)}
        touched = {line for test in own for line in (*test.lines, *test.kill_lines)} & within
        anchor = _span(path, touched & target.target.changed_lines, anchors)
        if anchor is not None:
            lines = {line for test in own for line in test.lines} & within
            kills = [
                kill
                for test in own
                for kill in test.kills
                if any(kill.endswith(f"line {line}") for line in touched)
            ]
            found.append((len(lines) + len(kills), _comment(anchor, _guarded(own, lines, kills))))
    return found


def _span(path: str, lines: set[int], anchors: Anchors) -> Anchor | None:
    """Return the anchor from the first to the last of these lines, in the hunk that holds most of them."""
    best: list[int] = []
    for hunk in anchors.hunks.get(path, ()):
        within = sorted(line for line in lines if line in hunk)
        if len(within) > len(best):
            best = within
    return anchors.at(path, best[0], best[-1]) if best else None


def _guarded(tests: Sequence[Proposal], lines: set[int], kills: Sequence[str]) -> str:
    """Return what now guards a function."""
    named = [f"{test.key} {code(test.name)}" for test in tests[:_TESTS_SHOWN]]
    more = f" and {len(tests) - len(named)} more" if len(tests) > len(named) else ""
    parts = []
    if lines:
        many = len(lines) > 1
        parts.append(f"cover{'' if len(tests) > 1 else 's'} line{'s' if many else ''} {line_list(lines)}")
    if kills:
        parts.append(
            f"notice{'' if len(tests) > 1 else 's'} {plural(len(kills), 'small fault')} ({faults(kills, _KILLS_SHOWN)})"
        )
    return f"{', '.join(named)}{more} now {' and '.join(parts)}."


def _comment(anchor: Anchor, text: str) -> Comment:
    return Comment(anchor.path, anchor.last, text, anchor.first if anchor.first < anchor.last else None)
