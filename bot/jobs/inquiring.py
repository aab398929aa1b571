"""What can be asked about the functions that a pull request changes: found out in the run's own process, in a sandbox."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from bot import changes
from bot.domain import Progress, Request, Target, Usage
from bot.errors import InconclusiveError, UsageError
from bot.intent import kept
from bot.intent.inquiry import inquire
from bot.models import Model
from bot.models.builtin import NAME as BUILT_IN
from bot.models.client import load
from bot.programs.calls import documented
from bot.programs.functions import Subject, find, unsuitable
from bot.repoconfig import RepoConfig
from bot.scaling.allocation import allocate, uncertain_vote
from bot.scaling.difficulty import estimate
from bot.store.questions import Asking
from bot.workshop import site, stage

SAMPLES = 4
"""Times that a model is asked for a function, on average over the functions of a pull request."""
_LEAST, _MOST = 2, 8
_LARGEST = 400_000
"""Characters of a module; a larger one is not kept in the database to be asked about."""


@dataclass(frozen=True, slots=True)
class Found:
    """What can be asked, and what it took to find that out."""

    askings: tuple[Asking, ...] = ()
    usage: Usage = field(default_factory=Usage)


def look_into(
    request: Request,
    config: RepoConfig,
    tell: Callable[[Progress], None],
    wrap: Callable[[Model], Model],
    known: Sequence[Asking] = (),
    *,
    most: int,
    purpose: str,
) -> Found:
    """Return what can be asked about the functions that a request's change touches.

    The hardest to get right come first; samples and questions go where most is to be decided, with a floor for each.

    Args:
        request: The run's; its budget is what is left of it.
        config: The repository's.
        tell: Is told what is done.
        wrap: Is given the model, and gives the one to be used in its place.
        known: What was found out at earlier heads; a function that has not changed is not looked into again.
        most: How many questions there may be.
        purpose: What the change is for, in its author's words.

    Raises:
        InconclusiveError: The repository's code cannot be installed.
    """
    change = changes.read(request, config)
    subjects = _subjects(change.targets, most, offline=request.model == BUILT_IN)
    if not subjects:
        return Found()
    rates = [estimate(subject.source, subject.name) for _, subject in subjects]
    questions = allocate(rates, most, gain=uncertain_vote)
    samples = allocate(rates, SAMPLES * len(rates), floor=_LEAST, most=_MOST, gain=uncertain_vote)
    texts = {(one.path, one.function): one for one in known}
    askings = [
        replace(one, questions=share)
        for (target, subject), share in zip(subjects, questions, strict=True)
        if (one := texts.get((target.path, subject.name))) and _is_of(one, subject)
    ]
    if len(askings) == len(subjects):
        return Found(tuple(askings))
    model = None
    if request.model != BUILT_IN:
        model = wrap(load(request.model, seed=request.seed, budget_usd=request.budget_usd))
    done = {(one.path, one.function) for one in askings}
    usage = Usage()
    with site(request, config, change, tell) as place, stage(tell, "intent") as say:
        for (target, subject), share, times in zip(subjects, questions, samples, strict=True):
            if (target.path, subject.name) in done:
                continue
            say(f"what {subject.name} could be meant to do")
            with (
                suppress(InconclusiveError, UsageError),
                place.sandboxes.open(place.tree, place.interpreter) as box,
            ):
                found = inquire(
                    box, subject, target.module, model, samples=times, seed=request.seed, purpose=purpose
                )
                usage += found.usage
                askings.append(
                    Asking(target.path, subject.name, request.head or "", kept.as_json(found), share)
                )
    return Found(tuple(askings), usage)


def _is_of(asking: Asking, subject: Subject) -> bool:
    """Whether something was found out about a function as it stands."""
    with suppress(UsageError):
        return find(asking.inquiry["source"], subject.name).text == subject.text
    return False


def _subjects(targets: Sequence[Target], most: int, *, offline: bool) -> list[tuple[Target, Subject]]:
    """Return the changed functions that may be asked about, with their files: those most in doubt, hardest first."""
    found: list[tuple[Target, Subject]] = []
    for target in targets:
        if len(target.source) > _LARGEST:
            continue
        for function in target.functions:
            if "." in function.qualname:
                continue
            with suppress(UsageError):
                subject = find(target.source, function.qualname)
                # The built-in model writes no code of its own, so that only the documentation can say otherwise.
                if not unsuitable(subject) and (not offline or documented(subject)):
                    found.append((target, subject))
    found.sort(key=lambda row: (estimate(row[1].source, row[1].name), row[0].path, row[1].first))
    return found[:most]
