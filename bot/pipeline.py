"""The story: one change comes in, evidence goes out.

    changes -> environment -> baseline -> (for each target) seed -> refine -> select -> measure

Each stage takes what the one before it gave, and nothing reaches back up. Delivery is the caller's: the command
prints; the Action and the App post.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from bot import changes, crew, repoconfig, stages
from bot.agent.loop import Refinement
from bot.domain import Change, MutationResult, Progress, Request, RunReport, Target, TargetReport, Usage
from bot.errors import InconclusiveError, ModelError, SandboxError, TestforgeError, UsageError
from bot.measure import score as scores
from bot.measure.deltas import coverage_deltas, mutation_delta
from bot.models.budget import BudgetError
from bot.models.builtin import NAME as BUILT_IN
from bot.sandbox.choice import choose
from bot.scaling.sharing import share_iterations
from bot.select.joining import Joined
from bot.select.placement import Placement, place
from bot.select.selection import Selection
from bot.settings import cache_directory
from bot.workshop import Listener, Workshop, Wrapper, site, stage, workshop

HANDS = 4
"""Targets at once where the model is distant; providers' rate limits seldom bear more."""


def review(request: Request, tell: Listener, *, wrap: Wrapper = lambda model: model) -> RunReport:
    """Write tests for a change and say what they prove.

    Args:
        request: What to review, and how.
        tell: Is told of every stage as it begins and ends.
        wrap: Is given the model, and gives the one to be used in its place.

    Returns:
        The run's report. Code that cannot be installed or run gives the status `inconclusive`, Ctrl-C `cancelled`,
        a model that gave no reply for any file `failed`, each with what was found until then.

    Raises:
        UsageError: The request, the configuration or the set-up of the model is wrong.
        TestforgeError: testforge itself failed.
    """
    started = time.monotonic()
    tell = _one_at_a_time(tell)
    request = _affordable(request, tell)
    config = repoconfig.load(changes.configuration(request.root, request.base))
    with stage(tell, "changes") as say:
        change = changes.read(request, config)
        say(f"{len(change.targets)} to test, {len(change.skipped)} with nothing to test")
    done: dict[str, TargetReport] = {}
    opening = Usage()
    status, reason, broken = "", "", False
    try:
        if change.targets:
            with workshop(request, config, change, tell, wrap) as shop:
                opening = shop.opening
                groups = _groups(change.targets, shop)
                turns = share_iterations(change.targets, request.max_iterations)
                works = [partial(_cover_group, group, shop, turns, done) for group in groups]
                crew.share(works, _hands(request))
    except InconclusiveError as error:
        status, reason, broken = error.status, _with_detail(error), isinstance(error, SandboxError)
    except KeyboardInterrupt:
        status, reason = (
            "cancelled",
            "It was stopped before it was done; what was found until then is reported.",
        )
    reports = [done[target.path] for target in change.targets if target.path in done]
    report = _report(request, change, reports, status, reason, time.monotonic() - started)
    broken = broken or any(one.is_broken for one in reports)
    return replace(report, usage=report.usage + opening, is_broken=broken)


def cover(target: Target, shop: Workshop) -> TargetReport:
    """Write, judge and measure tests for one target; what goes wrong with it leaves the other targets alone."""
    spent = Usage()
    try:
        placement = _placed(target, shop)
        mutants = stages.draw_mutants(target, shop)
        stages.check_import(target, placement, shop)
        before = stages.judge_existing(target, mutants, shop)
        refinement = stages.proposed_before(target, placement, shop)
        if refinement is None:
            brief = stages.write_brief(target, placement, shop)
            seed = stages.write_first_suite(brief, shop)
            spent += seed.usage
            refinement = stages.refine_suite(brief, seed, mutants, before, shop)
            spent += refinement.usage
        selection = stages.select_tests(refinement, placement, mutants, before, target, shop)
        joined = stages.join_approved(selection, placement, target, shop)
    except InconclusiveError as error:
        broken = isinstance(error, SandboxError)
        return TargetReport(target, error.status, _with_detail(error), usage=spent, is_broken=broken)
    except BudgetError as error:  # a smaller target's calls may still fit into it
        return TargetReport(target, InconclusiveError.status, error.message, usage=spent)
    except ModelError as error:  # and a provider's filter may have nothing against another one
        return TargetReport(target, error.status, error.message, usage=spent)
    return _with_approved(_target_report(target, spent, refinement, selection, before, shop), joined)


def score(
    root: Path,
    source: str,
    test_file: str,
    *,
    sandbox: str,
    seed: int,
    max_mutants: int | None,
    progress: Listener,
) -> scores.Score:
    """Measure a test file against a source file.

    Args:
        root: The project's directory.
        source: The source file, relative to `root`.
        test_file: The test file, relative to `root`, or absolute if it lies outside.

    Raises:
        UsageError: A path or the configuration is wrong.
        InconclusiveError: The code could not be installed or the tests not be run.
    """
    config = repoconfig.load(changes.configuration(root, None))
    request = Request(root, whole_file=source, sandbox=sandbox, seed=seed)
    change = changes.read(request, config)
    if not change.targets:
        raise UsageError(f"There is nothing to score: {_why_nothing(change)}")
    with (
        site(request, config, change, progress) as place_,
        stage(progress, "measure", source) as say,
        place_.sandboxes.open(place_.tree, place_.interpreter) as box,
    ):
        if Path(test_file).is_absolute():
            given = Path(test_file).read_bytes()
            test_file = f"testforge_given/{Path(test_file).name}"
            box.write(test_file, given)
        found = scores.score_file(
            box,
            change.targets[0],
            test_file,
            max_mutants=max_mutants,
            seed=seed,
            exclude=config.mutation.leave_out,
            memory=cache_directory() / "verdicts",
        )
        say(f"{len(found.run.passed)} of {len(found.run.results)} tests pass")
        return found


# ---------------------------------------------------------------- several targets


def _groups(targets: Sequence[Target], shop: Workshop) -> list[list[Target]]:
    """Return the targets, those whose tests would go to one file together.

    Each group is a piece of work that no other one sees anything of, so that what comes out is the same however many
    are done at once.
    """
    if len(targets) == 1:
        return [list(targets)]
    groups: dict[str, list[Target]] = {}
    for target in targets:
        groups.setdefault(_placed(target, shop).final_path, []).append(target)
    return list(groups.values())


def _cover_group(
    group: Sequence[Target], shop: Workshop, turns: Mapping[str, int], done: dict[str, TargetReport]
) -> None:
    """Cover the targets of a group one after another, each with the suites of those before it in the tree."""
    if len(group) > 1:
        shop = replace(shop, site=shop.site.apart(group[0].path.replace("/", "-")))
    for target in group:
        own = replace(shop, request=replace(shop.request, max_iterations=turns[target.path]))
        done[target.path] = cover(target, own)
        if len(group) > 1:
            shop.site.add(done[target.path].suite)


def _placed(target: Target, shop: Workshop) -> Placement:
    files = changes.working_files(shop.site.tree)
    return place(files, shop.site.read, target, shop.config, unusable=shop.baseline.unusable)


def _hands(request: Request) -> int:
    """Return how many targets are worked on at once: a distant model is mostly waited for, the built-in one computes."""
    if request.jobs is not None:
        return request.jobs
    return 1 if request.model == BUILT_IN else HANDS


def _affordable(request: Request, tell: Listener) -> Request:
    """Return a request with the built-in model where nothing may be spent."""
    if request.budget_usd != 0 or request.model == BUILT_IN:
        return request
    with stage(tell, "model") as say:
        say(f"a budget of 0 leaves {BUILT_IN}, the built-in model, instead of {request.model}")
    return replace(request, model=BUILT_IN)


def _one_at_a_time(tell: Listener) -> Listener:
    """Return a listener to which several threads can speak."""
    lock = threading.Lock()

    def told(progress: Progress) -> None:
        with lock:
            tell(progress)

    return told


# ---------------------------------------------------------------- reports


def _target_report(
    target: Target,
    spent: Usage,
    refinement: Refinement,
    selection: Selection | None,
    before: MutationResult | None,
    shop: Workshop,
) -> TargetReport:
    """Return all that was found out about one target; without a suite, what the existing tests alone reach."""
    existing, green = shop.baseline.coverage(target), shop.baseline.green
    unchanged = None if before is None else mutation_delta(before, before)
    report = TargetReport(
        target,
        "no-useful-tests",
        _why_no_suite(refinement),
        coverage=coverage_deltas(
            target, existing, green, existing, green, measured=not shop.baseline.problem
        ),
        mutation_changed=unchanged,
        mutation_file=unchanged if target.whole_file else None,
        red_tests=shop.baseline.red,
        iterations=refinement.iterations,
        usage=spent,
    )
    if selection is None:
        return report
    return replace(
        report,
        status="proposed" if selection.suite else "no-useful-tests",
        reason="" if selection.suite else "No test that was written adds a covered line or a killed mutant.",
        suite=selection.suite,
        ledger=selection.ledger,
        coverage=selection.coverage,
        mutation_changed=selection.mutation,
        mutation_file=selection.mutation if target.whole_file else None,
        suspected_bugs=selection.suspected_bugs,
    )


def _with_approved(report: TargetReport, joined: Joined | None) -> TargetReport:
    """Return a target's report with the tests that the author approved, and the bugs that these show."""
    if joined is None:
        return report
    bugs = (*joined.bugs, *report.suspected_bugs)
    if not joined.ledger:
        return replace(report, suspected_bugs=bugs)
    return replace(
        report,
        status="proposed",
        reason="",
        suite=joined.suite,
        ledger=(*report.ledger, *joined.ledger),
        suspected_bugs=bugs,
    )


def _report(
    request: Request, change: Change, done: list[TargetReport], status: str, reason: str, wall_s: float
) -> RunReport:
    """Put a run's report together from its targets'; `status` is set where the run did not get through."""
    if not status and not change.targets:
        status, reason = "nothing-to-test", _why_nothing(change)
    elif not status:
        order = ("proposed", "failed", "no-useful-tests", "inconclusive")
        best = min(done, key=lambda report: order.index(report.status))
        status, reason = best.status, best.reason
    return RunReport(
        status,
        reason,
        change.base,
        change.head,
        request.model,
        choose(request.sandbox).kind,
        wall_s,
        sum((report.usage for report in done), Usage()),
        tuple(done),
        change.skipped,
    )


def _why_no_suite(refinement: Refinement) -> str:
    """Return why there is nothing to choose from: what was written, and how the model ended."""
    what = (
        "No test of what was written could be collected." if refinement.snapshots else "No test was written."
    )
    if refinement.ended == "finish" or not refinement.note:
        return what
    note = refinement.note.rstrip(".")
    return f"{what} {note[:1].upper()}{note[1:]}."


def _why_nothing(change: Change) -> str:
    """Return why a change has no targets, in one sentence."""
    if not change.skipped:
        return "No Python source file changed."
    if len(change.skipped) == 1:
        return f"{change.skipped[0].path} {change.skipped[0].reason}."
    return f"None of the {len(change.skipped)} changed Python files needs tests."


def _with_detail(error: TestforgeError) -> str:
    """Return an error's message and detail; of a traceback, which is of the sandbox's own code, the last line."""
    detail = error.detail.strip()
    if "Traceback (most recent call last)" in detail:
        detail = detail.splitlines()[-1]
    return f"{error.message}\n{detail}" if detail else error.message
