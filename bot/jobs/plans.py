"""Whether a run begins at all, and with how much money: looked at anew when its turn has come."""

from __future__ import annotations

import base64
from dataclasses import asdict, dataclass, field
from typing import Any

from bot import repoconfig
from bot.errors import UsageError
from bot.github import pulls
from bot.github.faults import NotThereError
from bot.github.hub import Hub
from bot.github.pulls import Pull
from bot.github.wishes import Wish
from bot.jobs.office import Office
from bot.repoconfig import RepoConfig

REPEATED = ("failed", "inconclusive", "cancelled")
"""How a run of a head may have ended for another one of the same head to make sense."""
INTENT = "intent"
"""The command of a run that only finds out what to ask the author."""
ANSWERS = "answers"
"""The command, which nobody types, of a run that brings a review up to date with the author's answers."""
_TRIGGERS = {"reopened": "opened"}


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to become of a wish for a review.

    Attributes:
        reason: Why there is no run, as a sentence; empty if there is one.
        is_told: Whether that is worth telling on the pull request, even if nobody asked by a comment.
        pull: The pull request as it is now.
        budget_usd: What the models may cost; None is no limit.
        expected_usd: What they will likely cost, as the repository's last runs did; 0 where nothing is known.
    """

    reason: str = ""
    is_told: bool = False
    pull: dict[str, Any] = field(default_factory=dict)
    budget_usd: float | None = None
    expected_usd: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """Return it as values that JSON can hold."""
        return asdict(self)


def plan(office: Office, hub: Hub, wish: Wish, received: float) -> Plan:
    """Return what is to become of a wish for a review.

    Args:
        received: When it was asked for, in seconds since 1970.

    Raises:
        GitHubError: GitHub does not let the App read the pull request, or does not answer.
    """
    runs = office.store.runs
    stopped = runs.stopped(wish.repository, wish.number, received)
    if stopped:
        return Plan(stopped)
    pull = pulls.read(hub, wish.number)
    unfit = _unfit(pull, wish)
    if unfit:
        return Plan(unfit, pull=pull.as_json())
    try:
        config = repoconfig.load(_configuration(hub, pull))
    except UsageError as error:
        return Plan(error.message, is_told=True, pull=pull.as_json())
    unwanted = _unwanted(pull, wish, config)
    if unwanted:
        return Plan(unwanted, pull=pull.as_json())
    before = runs.last_posted(wish.repository, wish.number, pull.head)
    is_repeated = wish.command in (INTENT, ANSWERS)
    if not is_repeated and before is not None and before.status not in REPEATED:
        return Plan(
            f"This head commit has been reviewed already{f': {before.url}' if before.url else ''}.",
            pull=pull.as_json(),
        )
    return _with_money(office, wish, pull, config)


def _unfit(pull: Pull, wish: Wish) -> str:
    """Return why a pull request cannot be reviewed as it is; empty if it can."""
    if pull.state != "open":
        return f"The pull request is {pull.state}."
    if pull.archived:
        return "The repository is archived."
    if pull.draft and wish.comment is None and wish.command != ANSWERS:
        return "The pull request is a draft; it is reviewed when it is ready, or when /testforge asks for it."
    return ""


def _unwanted(pull: Pull, wish: Wish, config: RepoConfig) -> str:
    """Return why the repository's configuration does not want a review; empty if it does."""
    if wish.command == ANSWERS:
        return ""
    if wish.comment is not None:
        return "" if "command" in config.triggers else "Commands are switched off in .github/testforge.yml."
    if config.labels.skip in pull.labels:
        return f"The label {config.labels.skip} is set."
    action = wish.event.partition(".")[2]
    trigger = _TRIGGERS.get(action, action)
    return "" if trigger in config.triggers else f"The trigger {trigger} is switched off."


def _with_money(office: Office, wish: Wish, pull: Pull, config: RepoConfig) -> Plan:
    """Return the plan with what may be spent; without a run where the month's money is spent, or likely too little."""
    operator = office.settings
    limits = [limit for limit in (config.budget_usd, operator.run_budget_usd) if limit is not None]
    expected = office.store.runs.mean_cost(wish.repository)
    if operator.month_budget_usd is not None:
        spent = office.store.spending.spent(wish.repository)
        left = operator.month_budget_usd - spent
        if left <= 0 or expected > left:
            likely = f", and a run here costs about {expected:.2f} USD" if 0 < left < expected else ""
            return Plan(
                f"This repository's budget of {operator.month_budget_usd:.2f} USD a month is used up: "
                f"{spent:.2f} USD are spent{likely}. The next month begins with a new one.",
                is_told=True,
                pull=pull.as_json(),
            )
        limits.append(left)
    return Plan(pull=pull.as_json(), budget_usd=min(limits, default=None), expected_usd=expected)


def forecast(expected_usd: float, budget_usd: float | None) -> str:
    """Return what a run will likely cost and may cost at most, as sentences; empty where neither is known."""
    likely = f"A run here has cost {expected_usd:.2f} USD on average. " if expected_usd >= 0.005 else ""
    most = "" if budget_usd is None else f"This one may cost {budget_usd:.2f} USD at most."
    return f"{likely}{most}".strip()


def _configuration(hub: Hub, pull: Pull) -> str | None:
    """Return the text of the repository's configuration on the base branch; None if there is none."""
    try:
        found = hub.get(f"/contents/{repoconfig.PATH}", ref=pull.base)
    except NotThereError:
        return None
    if not isinstance(found, dict) or found.get("encoding") != "base64":
        return None
    return base64.b64decode(found.get("content", "")).decode("utf-8", "replace")
