"""The stages of one target: each takes what the one before it gave, in a sandbox of its own where it runs code."""

from __future__ import annotations

from bot.agent.brief import Brief
from bot.agent.limits import AgentLimits
from bot.agent.loop import Refinement, refine
from bot.agent.seed import Seed, write_seed
from bot.agent.workbench import Workbench
from bot.domain import MutationResult, Suite, Target, Usage
from bot.errors import InconclusiveError, MeasureError
from bot.measure.importing import import_problem
from bot.measure.mutants import MutantSet, generate
from bot.measure.mutation import judge
from bot.sandbox.renewing import Renewing
from bot.select.evidence import reaching
from bot.select.joining import Joined, join
from bot.select.placement import Placement
from bot.select.selection import Selection, SelectionJob, select
from bot.workshop import Workshop, stage


def draw_mutants(target: Target, shop: Workshop) -> MutantSet:
    """Return the mutants of the changed lines; none where the configuration turns them off."""
    settings = shop.config.mutation
    lines = None if target.whole_file else target.changed_lines
    if not settings.enabled:
        lines = frozenset()
    return generate(
        target.path,
        target.source,
        lines=lines,
        limit=settings.max_mutants,
        seed=shop.request.seed,
        exclude=settings.leave_out,
    )


def check_import(target: Target, placement: Placement, shop: Workshop) -> None:
    """Raise InconclusiveError if no test can import the target; a green test that executes it says that one can."""
    existing = shop.baseline.coverage(target)
    if existing and any(existing.lines_by_test.get(test) for test in shop.baseline.green):
        return
    with shop.site.sandboxes.open(shop.site.tree, shop.site.interpreter) as box:
        problem = import_problem(box, target, placement.suite_path)
    if problem:
        raise InconclusiveError(problem)


def judge_existing(target: Target, mutants: MutantSet, shop: Workshop) -> MutationResult | None:
    """Return which mutants the existing tests kill; None where no green test of theirs reaches the target."""
    # Whole files, for a test that only imports the target can kill a mutant of a constant.
    reached = reaching(shop.baseline.coverage(target), shop.baseline.green)
    files = {test.partition("::")[0] for test in reached}
    green = [test for test in shop.baseline.green if test.partition("::")[0] in files]
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
        say(f"{len(found.survivors)} of {found.judged} mutants survive the existing tests")
        return found


def write_brief(target: Target, placement: Placement, shop: Workshop) -> Brief:
    """Return what the model is told."""
    existing = shop.baseline.coverage(target)
    return Brief(
        target,
        placement.suite_path,
        shop.site.interpreter.version,
        examples=tuple((path, shop.site.read(path)) for path in placement.examples),
        covered_lines=existing.lines(shop.baseline.green) if existing else frozenset(),
    )


def proposed_before(target: Target, placement: Placement, shop: Workshop) -> Refinement | None:
    """Return the suite that was proposed for the same functions before: it needs no model, only to be verified again."""
    for suite in shop.request.earlier:
        if suite.target == target.path and suite.functions == target.functions_hash:
            candidate = Suite(placement.suite_path, suite.content)
            return Refinement((), candidate, 0, Usage(), "earlier")
    return None


def write_first_suite(brief: Brief, shop: Workshop) -> Seed:
    """Let the model write a first suite from the source alone, or take one that was proposed for an earlier head."""
    with stage(shop.tell, "seed", brief.target.path) as say:
        for suite in shop.request.earlier:
            if suite.target == brief.target.path:
                say("the suite proposed before")
                return Seed(suite.content)
        seed = write_seed(shop.model, brief)
        say(seed.note or f"{len(seed.code.splitlines())} lines")
        return seed


def refine_suite(
    brief: Brief, seed: Seed, mutants: MutantSet, before: MutationResult | None, shop: Workshop
) -> Refinement:
    """Let the model improve the suite in a sandbox of its own."""
    limits = AgentLimits(iterations=shop.request.max_iterations)
    with (
        stage(shop.tell, "refine", brief.target.path) as say,
        Renewing(lambda: shop.site.sandboxes.open(shop.site.tree, shop.site.interpreter), say) as box,
    ):
        known = {verdict.mutant.id: verdict for verdict in before.verdicts} if before else None
        bench = Workbench(box, brief.target, brief.suite_path, mutants, shop.baseline, known)
        refinement = refine(shop.model, brief, seed, bench, limits, say)
        say(f"{refinement.iterations} iterations, ended by {refinement.ended}")
        return refinement


def select_tests(
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
            judged=refinement.mutation,
            dismissed=shop.request.dismissed,
        )
        selection = select(job)
        say(f"{sum(row.kept for row in selection.ledger)} of {len(selection.ledger)} tests kept")
        return selection


def join_approved(
    selection: Selection | None, placement: Placement, target: Target, shop: Workshop
) -> Joined | None:
    """Add what the author approved to what is proposed; None where nothing about this file was."""
    approved = [one for one in shop.request.approved if one.path == target.path]
    if not approved:
        return None
    with stage(shop.tell, "approved", target.path) as say:
        site = shop.site
        suite = None if selection is None else selection.suite
        joined = join(
            lambda: site.sandboxes.open(site.tree, site.interpreter), approved, target, placement, suite
        )
        say(f"{len(joined.ledger)} tests that the author approved, {len(joined.bugs)} that the code fails")
        return joined
