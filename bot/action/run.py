"""One event of a workflow: the pull request is cloned and reviewed, and the outcome told in every form a workflow has."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from bot import changes, pipeline, repoconfig
from bot.action.errand import Errand, errand
from bot.action.inputs import Inputs, artefacts
from bot.action.runner import Runner, annotate, commands_stopped
from bot.deliver import patch, record
from bot.deliver.review import Review, build
from bot.domain import Progress, Request, RunReport, TargetReport
from bot.errors import TestforgeError, UsageError
from bot.github import answers, cloning, publishing, pulls
from bot.github.app import with_token
from bot.github.authority import may_command
from bot.github.faults import RefusedError
from bot.github.hub import Hub
from bot.github.pulls import Pull
from bot.models.keys import missing
from bot.repoconfig import RepoConfig
from bot.settings import Settings

OFFLINE = "testforge/offline"
_MEMORY = frozenset({"dismiss", "status", "stop", "intent", "yes", "no", "undefined"})
"""Commands that need what was before, which only the App remembers."""
_ADVICE = {
    "shallow clone": "give actions/checkout `fetch-depth: 0`.",
    "is not in a git repository": "a run by hand needs a step with actions/checkout before it.",
    "No Docker engine": "take a runner that has Docker, or `sandbox: process` for code you trust.",
}
"""What helps there, by words of the message."""
_NEEDS_APP = "The Action forgets each run when it ends, so it cannot do that; the App can."


def act(environment: Mapping[str, str], settings: Settings) -> int:
    """Do what a step's event asks for and tell the runner; return the step's exit code.

    Args:
        environment: The step's.
        settings: The operator's, for the address of GitHub's API.
    """
    runner = Runner.of(environment)
    try:
        inputs = Inputs.of(environment)
        asked = errand(environment, inputs)
        if asked.kind == "nothing":
            annotate("notice", asked.reason)
            runner.set("status", "nothing-to-test")
            return 0
        return _Step(environment, settings, runner, inputs).do(asked)
    except RefusedError as error:
        annotate("error", f"GitHub refused: {error.message.rstrip('.')}. {_permissions(error)}")
    except TestforgeError as error:
        annotate("error", " ".join((error.message, *_in_a_workflow(error.message))))
        runner.set("status", error.status)
        return error.exit_code
    runner.set("status", "failed")
    return 1


def _permissions(error: RefusedError) -> str:
    """Return what the job's token may lack, and GitHub's own words where the message has none."""
    said = f" (GitHub said: {error.said})" if error.said and error.said not in error.message else ""
    return f"The job needs `permissions: contents: read, pull-requests: write, issues: write`{said}."


def _in_a_workflow(message: str) -> Iterator[str]:
    """Yield what to write into the workflow, where a message speaks to somebody at a terminal."""
    for sign, advice in _ADVICE.items():
        if sign in message:
            yield f"In a workflow: {advice}"


class _Step:
    """A step under way."""

    def __init__(
        self, environment: Mapping[str, str], settings: Settings, runner: Runner, inputs: Inputs
    ) -> None:
        self._environment = environment
        self._runner = runner
        self._inputs = inputs
        self._settings = settings
        self._run = f"{environment.get('GITHUB_RUN_ID', '0')}-{environment.get('GITHUB_RUN_ATTEMPT', '1')}"

    def do(self, asked: Errand) -> int:
        """Do what is asked for; return the exit code."""
        if asked.kind in ("file", "base"):
            return self._by_hand(asked)
        if not self._inputs.token:
            raise UsageError(
                "The input `github-token` is empty. Give it the workflow's token: ${{ github.token }}."
            )
        repository = self._environment.get("GITHUB_REPOSITORY", "")
        with with_token(self._settings, self._inputs.token, repository) as hub:
            if asked.wish is not None:
                return self._command(hub, asked)
            return self._review(hub, pulls.read(hub, asked.number))

    # ---------------------------------------------------------------- pull requests

    def _review(self, hub: Hub, pull: Pull, *, is_asked_for: bool = False) -> int:
        """Review a pull request; that of a fork is answered on GitHub only where somebody who may write asked for it."""
        if pull.state != "open":
            annotate("notice", f"The pull request is {pull.state}.")
            self._runner.set("status", "nothing-to-test")
            return 0
        with tempfile.TemporaryDirectory(prefix="testforge-") as directory:
            report, review = self._work(hub, pull, Path(directory, "clone"))
            # The event of a fork's pull request comes with a token that cannot write, and that of a comment does not.
            is_read_only = pull.is_fork and not is_asked_for
            try:
                url = "" if is_read_only else self._publish(hub, pull, review)
            except RefusedError:  # what was written is not lost for it
                self._tell(report, review, "")
                raise
            if is_read_only:
                annotate(
                    "notice",
                    "The token of a fork's workflow cannot write, so the tests are in the job's summary and in the patch.",
                )
            return self._tell(report, review, url)

    def _work(self, hub: Hub, pull: Pull, root: Path, deliver: str | None = None) -> tuple[RunReport, Review]:
        """Clone, review, and build what is posted; nothing that is printed meanwhile commands the runner."""
        with commands_stopped():
            cloning.clone(hub, pull, root)
            config = repoconfig.load(changes.configuration(root, pull.base))
            request = self._request(root, config)
            keyless = pull.is_fork and bool(missing(request.model))  # a fork's workflow is given no secret
            if keyless:
                request = replace(request, model=OFFLINE)
            report = pipeline.review(replace(request, base=pull.base, head=pull.head), _say)
        if keyless:
            annotate(
                "notice", "A fork's workflow has no key for the model, so the built-in one wrote the tests."
            )
        review = build(
            report,
            root,
            run=self._run,
            base=pull.base,
            is_fork=pull.is_fork,
            can_push=pull.can_push,
            run_url=self._url(),
            deliver=deliver or self._inputs.deliver or config.deliver,
        )
        return report, review

    def _publish(self, hub: Hub, pull: Pull, review: Review) -> str:
        published = publishing.publish(hub, pull, review, run=self._run)
        for note in published.notes:
            annotate("warning", note)
        if published.superseded:
            annotate("notice", "A newer commit was pushed; its own run reviews it.")
        return published.review_url or published.delivered

    def _command(self, hub: Hub, asked: Errand) -> int:
        """Obey a comment's command, or answer why not."""
        wish = asked.wish
        assert wish is not None
        answers.acknowledge(hub, wish)
        pull = pulls.read(hub, asked.number)
        if not may_command(hub, wish.actor):
            answers.answer(hub, pull, wish, answers.NO_AUTHORITY)
            annotate("notice", f"{wish.actor} may not command testforge here.")
            return 0
        if wish.command == "":
            code = self._review(hub, pull, is_asked_for=True)
            if code:
                answers.answer(hub, pull, wish, f"The review did not come about; {self._url()} says why.")
            return code
        if wish.command in _MEMORY:
            answers.answer(hub, pull, wish, _NEEDS_APP)
            return 0
        with tempfile.TemporaryDirectory(prefix="testforge-") as directory:
            review = None
            if wish.command != "help":  # the tests are written again, and are the same where the model is
                _, review = self._work(hub, pull, Path(directory, "clone"), deliver="suggestions")
            found = answers.respond(hub, pull, wish, review)
        answers.answer(hub, pull, wish, found.text)
        return 0

    # ---------------------------------------------------------------- runs by hand

    def _by_hand(self, asked: Errand) -> int:
        root = changes.find_root(Path(self._environment.get("GITHUB_WORKSPACE") or "."))
        base = None if asked.kind == "file" else self._inputs.base
        request = self._request(root, repoconfig.load(changes.configuration(root, base)))
        request = (
            replace(request, whole_file=self._inputs.file)
            if asked.kind == "file"
            else replace(request, base=base)
        )
        with commands_stopped():
            report = pipeline.review(request, _say)
        review = build(report, root, run=self._run, base=base, run_url=self._url())
        return self._tell(report, review, "", root)

    def _request(self, root: Path, config: RepoConfig) -> Request:
        given = self._inputs
        iterations = config.max_iterations if given.max_iterations is None else given.max_iterations
        return Request(
            root=root,
            only=given.paths,
            model=given.model or self._settings.model or config.model or OFFLINE,
            sandbox=given.sandbox,
            max_iterations=iterations,
            budget_usd=config.budget_usd if given.budget_usd is None else given.budget_usd,
        )

    # ---------------------------------------------------------------- what a workflow is told

    def _tell(self, report: RunReport, review: Review, url: str, root: Path | None = None) -> int:
        place = artefacts(self._environment)
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        (place / "report.json").write_bytes(record.dump(record.as_json(report)))
        patch_path = ""
        text = review.patch or (patch.build(report, root) if root else "")
        if text:
            file = place / "tests.patch"
            file.write_bytes(text.encode("utf-8", "surrogateescape"))
            patch_path = str(file)
        self._runner.summarise(review.body or review.sticky or review.summary or review.title)
        self._runner.set("status", report.status)
        self._runner.set("tests-added", str(sum(row.kept for t in report.targets for row in t.ledger)))
        self._runner.set("coverage-delta", _points(report.targets, _coverage))
        self._runner.set("mutation-delta", _points(report.targets, _mutation))
        self._runner.set("review-url", url)
        self._runner.set("patch-path", patch_path)
        if report.status == "failed":
            annotate("error", report.reason or "The run failed.")
            return 1
        return self._failed(report)

    def _failed(self, report: RunReport) -> int:
        """Annotate what the workflow wants to fail for; return the exit code."""
        wanted = set(self._inputs.fail_on)
        found = False
        for target in report.targets:
            line = min(target.target.changed_lines, default=1)
            if "suspected-bug" in wanted:
                for bug in target.suspected_bugs:
                    annotate(
                        "error",
                        f"{bug.function} may be wrong: expected {bug.expected}, observed {bug.observed}",
                        file=target.target.path,
                        line=line,
                    )
                    found = True
            if "no-tests" in wanted and target.status == "no-useful-tests":
                annotate(
                    "error", f"No useful test was found. {target.reason}", file=target.target.path, line=line
                )
                found = True
            if "inconclusive" in wanted and target.status == "inconclusive":
                annotate("error", target.reason, file=target.target.path, line=line)
                found = True
        if "inconclusive" in wanted and report.status == "inconclusive" and not found:
            annotate("error", report.reason)
            found = True
        if report.status == "inconclusive" and not found:
            reasons = [target.reason for target in report.targets if target.status == "inconclusive"]
            annotate("warning", report.reason or "".join(reasons[:1]))
        return 3 if found else 0

    def _url(self) -> str:
        server = self._environment.get("GITHUB_SERVER_URL", "https://github.com")
        repository = self._environment.get("GITHUB_REPOSITORY", "")
        return f"{server}/{repository}/actions/runs/{self._environment.get('GITHUB_RUN_ID', '')}"


def _say(progress: Progress) -> None:
    """Print progress as plain lines, as far as a person wants it in a log."""
    if progress.state != "note":
        words = (progress.stage, progress.target, progress.state, progress.text)
        print(*(word for word in words if word), flush=True)  # noqa: T201


def _points(targets: tuple[TargetReport, ...], of: Callable[[TargetReport], float | None]) -> str:
    """Return the mean change in percentage points; empty where nothing was measured."""
    values = [value for target in targets if (value := of(target)) is not None]
    return f"{100 * sum(values) / len(values):+.1f}" if values else ""


def _coverage(target: TargetReport) -> float | None:
    delta = target.coverage.changed
    return None if delta.before is None or delta.after is None else delta.after - delta.before


def _mutation(target: TargetReport) -> float | None:
    delta = target.mutation_changed
    if delta is None or delta.after is None or delta.after.score is None:
        return None
    return delta.after.score - ((delta.before.score if delta.before else None) or 0.0)
