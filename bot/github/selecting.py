"""The proposed files with only those tests that somebody asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.deliver.proposals import Proposal
from bot.deliver.review import Review
from bot.errors import UsageError

_KEY = re.compile(r"[tT](\d{1,4})")


@dataclass(frozen=True, slots=True)
class Selection:
    """Which tests were asked for, and the files that hold them.

    Attributes:
        cut: Paths from which other proposed tests were taken out, so that the file as such was not run.
    """

    tests: tuple[Proposal, ...]
    files: Mapping[str, bytes]
    cut: tuple[str, ...] = ()


def named(review: Review, words: Sequence[str]) -> tuple[Proposal, ...]:
    """Return the tests that the words of a command name: `T1 T2`, `T1,T2`, `all`; all of them for no words.

    Raises:
        UsageError: A word names none; the message can be shown.
    """
    keys = [key for word in words for key in re.split(r"[,;]+", word) if key]
    if not keys or [key.lower() for key in keys] == ["all"]:
        return review.tests
    known = {test.key: test for test in review.tests}
    found: dict[str, Proposal] = {}
    for key in keys:
        match = _KEY.fullmatch(key)
        test = known.get(f"T{int(match[1])}") if match else None
        if test is None:
            last = f"T1 to T{len(known)}" if len(known) > 1 else "T1 alone"
            raise UsageError(f"No proposed test has the number `{_shown(key)}`; there is {last}.")
        found[test.key] = test
    return tuple(test for test in review.tests if test.key in found)


def leading(review: Review, words: Sequence[str]) -> tuple[tuple[Proposal, ...], tuple[str, ...]]:
    """Return the tests that the first words name, and the words after them: `T3 it repeats T1` is T3 and a reason.

    Raises:
        UsageError: The first word names no test.
    """
    count = 0
    while count < len(words) and all(_KEY.fullmatch(key) for key in re.split(r"[,;]+", words[count]) if key):
        count += 1
    if not count:
        raise UsageError("Say which test: its number stands in the review, such as `T1`.")
    return named(review, words[:count]), tuple(words[count:])


def select(review: Review, tests: Sequence[Proposal]) -> Selection:
    """Return the proposed files with these of the proposed tests in them; tests that were there before stay.

    Raises:
        UsageError: A test cannot be cut out of its file.
    """
    wanted = {test.key for test in tests}
    files: dict[str, bytes] = {}
    cut: list[str] = []
    for file in review.files:
        own = [test for test in review.tests if test.path == file.path]
        if not any(test.key in wanted for test in own):
            continue
        unwanted = [test for test in own if test.key not in wanted]
        files[file.path] = _without(file.path, file.content, unwanted) if unwanted else file.content
        if unwanted:
            cut.append(file.path)
    return Selection(tuple(tests), files, tuple(cut))


def _without(path: str, content: bytes, unwanted: Sequence[Proposal]) -> bytes:
    """Return a file without some of its tests, and without what only they used."""
    from bot.select.nodes import Spot
    from bot.select.pruning import prune
    from bot.select.tables import outline

    try:
        source = content.decode("utf-8")
        present = {Spot(name) for name in outline(source).tests}
        pruned = prune(
            source, present | {Spot(test.name) for test in unwanted}, [Spot(test.name) for test in unwanted]
        )
    except (UnicodeDecodeError, SyntaxError):
        pruned = None
    if pruned is None or not pruned.content:
        raise UsageError(
            f"Single tests cannot be taken out of `{_shown(path)}`. `/testforge apply all` commits it whole."
        )
    return pruned.content.encode("utf-8")


def _shown(text: str) -> str:
    return re.sub(r"[^\w./ -]", "", text)[:80]
