"""The words of commits and pull requests that hold tests: what was added, with no name of a person or an issue in them."""

from __future__ import annotations

from collections.abc import Sequence

from bot.deliver.markdown import code
from bot.deliver.proposals import Proposal, counted
from bot.deliver.wording import clean, line_list, plural

_MOST = 50  # tests named
_HEADLINE = 72  # characters


def headline(tests: Sequence[Proposal]) -> str:
    """Return a commit's first line."""
    sources = list(dict.fromkeys(test.source for test in tests))
    count = counted(tests)
    text = f"Add {count} for {_neutral(sources[0])}" if len(sources) == 1 else ""
    if not text or len(text) > _HEADLINE:
        text = f"Add {count} for {plural(len(sources), 'file')}"
    return text


def commit_body(tests: Sequence[Proposal], run: str, delivery: str, signer: str = "") -> str:
    """Return the rest of a commit's message: each test with what it proves, and which run found it.

    Args:
        signer: Name and address of whoever signs it off; empty for nobody.
    """
    rows = [f"- {_neutral(test.name)}{_proof(test)}" for test in tests[:_MOST]]
    if len(tests) > _MOST:
        rows.append(f"- and {len(tests) - _MOST} more")
    signed = [f"Signed-off-by: {signer}"] if signer else []
    return "\n".join([*rows, "", trailer(delivery), f"Testforge-Run: {run}", *signed])


def trailer(delivery: str) -> str:
    """Return the line by which the commit of one command is found again."""
    return f"Testforge-Delivery: {delivery}"


def pull_body(tests: Sequence[Proposal], number: int, delivery: str) -> str:
    """Return the text of a stacked pull request."""
    rows = [f"- {code(test.name)} in {code(test.path)}{_proof(test)}" for test in tests[:_MOST]]
    if len(tests) > _MOST:
        rows.append(f"- and {len(tests) - _MOST} more")
    intro = f"Tests for the change in #{number}. Merging this adds them to its branch."
    return "\n".join([intro, "", *rows, "", f"<!-- {trailer(delivery)} -->"])


def _proof(test: Proposal) -> str:
    parts = [_neutral(test.approved)] if test.approved else []
    if test.lines:
        parts.append(
            f"covers line{'s' if len(test.lines) > 1 else ''} {line_list(test.lines)} of {_neutral(test.source)}"
        )
    if test.kills:
        parts.append(f"kills {plural(len(test.kills), 'mutant')}")
    return f": {', '.join(parts)}" if parts else ""


def _neutral(text: str) -> str:
    """Return a name without what would mention a person or close an issue."""
    return clean(text).replace("@", "").replace("#", "")
