"""The story: one change comes in, evidence goes out.

    changes -> environment -> baseline -> (for each target) seed -> refine -> select -> measure

Each stage takes what the one before it gave, and nothing reaches back up. Delivery is the caller's: the command
prints; the Action and the App post.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from bot import changes, repoconfig
from bot.agent.brief import Brief
from bot.agent.limits import AgentLimits
from bot.agent.loop import Refinement, refine
from bot.agent.seed import Seed, write_seed
from bot.agent.workbench import Workbench
from bot.domain import Change, MutationResult, Request, RunReport, Target, TargetReport, Usage
from bot.errors import InconclusiveError, MeasureError, ModelError, TestforgeError, UsageError
from bot.measure import score as scores
from bot.measure.importing import import_problem
from bot.measure.mutants import MutantSet, generate
from bot.measure.mutation import judge
from bot.models.budget import BudgetError
from bot.sandbox.choice import choose
from bot.select.placement import Placement, place
from bot.select.selection import Selection, SelectionJob, select
from bot.workshop import Listener, Workshop, site, stage, workshop


def review(request: Request, tell: Listener) -> RunReport:
    """Write tests for a change and say what they prove.

    Args:
        request: What to review, and how.
        tell: Is told of every stage as it begins and ends.

    Returns:
        The run's report. Code that cannot be installed or run gives the status `inconclusive`, Ctrl-C `cancelled`,
        a model that stops answering after the first target `failed`, each with what was found until then.

    Raises:
        UsageError: The request or the configuration is wrong.
        ModelError: The model gave no reply, and nothing had been found.
        TestforgeError: testforge itself failed.
    """
    started = time.monotonic()
    config = repoconfig.load(changes.configuration(request.root, request.base))
    with stage(tell, "changes") as say:
        change = changes.read(request, config)
        say(f"{len(change.targets)} to test, {len(change.skipped)} with nothing to test")
    done: list[TargetReport] = []
    status, reason = "", ""
    try:
        if change.targets:
            with workshop(request, config, change, tell) as shop:
                for target in change.targets:
                    done.append(cover(target, shop))
                    shop.site.add(done[-1].suite)  # a later target may extend the same file
    except InconclusiveError as error:
        status, reason = error.status, _with_detail(error)
    except ModelError as error:
        if not done:
            raise
        status, reason = error.status, _with_detail(error)
    except KeyboardInterrupt:
        status, reason = (
            "cancelled",
            "It was stopped before it was done; what was found until then is reported.",
        )
    return _report(request, change, done, status, reason, time.monotonic() - started)


def cover(target: Target, shop: Workshop) -> TargetReport:
    """Write, judge and measure tests for one target; what goes wrong with it leaves the other targets alone."""
    spent = Usage()
    try:
        placement = place(changes.working_files(shop.site.tree), shop.site.read, target, shop.config)
        mutants = _mutants(target, shop)
        _check_import(target, placement, shop)
        before = _before(target, mutants, shop)
        brief = _brief(target, placement, shop)
        seed = _seed(brief, shop)
        spent += seed.usage
        refinement = _refine(brief, seed, mutants, before, shop)
        spent += refinement.usage
        selection = _select(refinement, placement, mutants, before, target, shop)
    except InconclusiveError as error:
        return TargetReport(target, error.status, _with_detail(error), usage=spent)
    except BudgetError as error:  # a smaller target's calls may still fit into it
        return TargetReport(target, InconclusiveError.status, error.message, usage=spent)
    return _target_report(target, spent, refinement, selection, shop)


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
        found = scores.score_file(box, change.targets[0], test_file, max_mutants=max_mutants, seed=seed)
        say(f"{len(found.run.passed)} of {len(found.run.results)} tests pass")
        return found


# ---------------------------------------------------------------- the stages of one target


def _mutants(target: Target, shop: Workshop) -> MutantSet:
    """Return the mutants of the changed lines; none where the configuration turns them off."""
    settings = shop.config.mutation
    lines = None if target.whole_file else target.changed_lines
    if not settings.enabled:
        lines = frozenset()
    return generate(
        target.path, target.source, lines=lines, limit=settings.max_mutants, seed=shop.request.seed
    )


def _check_import(target: Target, placement: Placement, shop: Workshop) -> None:
    """Raise InconclusiveError if no test can import the target; a green test that executes it says that one can."""
    existing = shop.baseline.coverage(target)
    if existing and any(existing.lines_by_test.get(test) for test in shop.baseline.green):
        return
    with shop.site.sandboxes.open(shop.site.tree, shop.site.interpreter) as box:
        problem = import_problem(box, target, placement.suite_path)
    if problem:
        raise InconclusiveError(problem)


def _before(target: Target, mutants: MutantSet, shop: Workshop) -> MutationResult | None:
    """Return which mutants the existing tests kill; None where no green test of theirs reaches the target."""
    existing = shop.baseline.coverage(target)
    green = [test for test in shop.baseline.green if existing and test in existing.lines_by_test]
    if not green or not mutants.mutants:
        return None
    with (
        stage(shop.tell, "baseline", target.path) as say,
        shop.site.sandboxes.open(shop.site.tree, shop.site.interpreter) as box,
    ):
        try:
            found = judge(box, target, mutants, shop.baseline.run, tests=green)
        except MeasureError as error:
            say(f"the existing tests cannot be used to judge mutants: {error.message}")
            return None
        say(f"{len(found.survivors)} of {len(found.verdicts)} mutants survive the existing tests")
        return found


def _brief(target: Target, placement: Placement, shop: Workshop) -> Brief:
    """Return what the model is told."""
    existing = shop.baseline.coverage(target)
    return Brief(
        target,
        placement.suite_path,
        shop.site.interpreter.version,
        examples=tuple((path, shop.site.read(path)) for path in placement.examples),
        covered_lines=existing.lines(shop.baseline.green) if existing else frozenset(),
    )


def _seed(brief: Brief, shop: Workshop) -> Seed:
    """Let the model write a first suite from the source alone."""
    with stage(shop.tell, "seed", brief.target.path) as say:
        seed = write_seed(shop.model, brief)
        say(seed.note or f"{len(seed.code.splitlines())} lines")
        return seed


def _refine(
    brief: Brief, seed: Seed, mutants: MutantSet, before: MutationResult | None, shop: Workshop
) -> Refinement:
    """Let the model improve the suite in a sandbox of its own."""
    limits = AgentLimits(iterations=shop.request.max_iterations)
    with (
        stage(shop.tell, "refine", brief.target.path) as say,
        shop.site.sandboxes.open(shop.site.tree, shop.site.interpreter) as box,
    ):
        known = {verdict.mutant.id: verdict for verdict in before.verdicts} if before else None
        bench = Workbench(box, brief.target, brief.suite_path, mutants, shop.baseline, known)
        refinement = refine(shop.model, brief, seed, bench, limits)
        say(f"{refinement.iterations} iterations, ended by {refinement.ended}")
        return refinement


def _select(
    refinement: Refinement,
    placement: Placement,
    mutants: MutantSet,
    before: MutationResult | None,
    target: Target,
    shop: Workshop,
) -> Selection | None:
    """Keep the tests that prove something, in pristine sandboxes; None where there is no suite to choose from."""
    if refinement.best is None:
        return None
    with stage(shop.tell, "select", target.path) as say:
        job = SelectionJob(
            sandboxes=shop.site.sandboxes,
            tree=shop.site.tree,
            base_tree=shop.site.base_tree,
            interpreter=shop.site.interpreter,
            target=target,
            placement=placement,
            candidate=refinement.best,
            baseline=shop.baseline,
            mutants=mutants,
            seed=shop.request.seed,
            note=say,
            before=before,
        )
        selection = select(job)
        say(f"{sum(row.kept for row in selection.ledger)} of {len(selection.ledger)} tests kept")
        return selection


# ---------------------------------------------------------------- reports


def _target_report(
    target: Target, spent: Usage, refinement: Refinement, selection: Selection | None, shop: Workshop
) -> TargetReport:
    """Return all that was found out about one target."""
    report = TargetReport(
        target,
        "no-useful-tests",
        refinement.note or "No suite that could be collected was written.",
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


def _report(
    request: Request, change: Change, done: list[TargetReport], status: str, reason: str, wall_s: float
) -> RunReport:
    """Put a run's report together from its targets'; `status` is set where the run did not get through."""
    if not status and not change.targets:
        status, reason = "nothing-to-test", _why_nothing(change)
    elif not status:
        order = ("proposed", "no-useful-tests", "inconclusive")
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
