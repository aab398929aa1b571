"""The refine loop: reply, tool calls, observations, until it ends (TestForge, section 3; METHODS 1.2)."""

from __future__ import annotations

from dataclasses import dataclass

from bot.agent import observations
from bot.agent.brief import Brief, suite_block, target_block
from bot.agent.interruptions import Ended, Interruption, Unusable
from bot.agent.limits import AgentLimits, Meter
from bot.agent.prompts import prompt
from bot.agent.seed import Seed
from bot.agent.snapshots import Snapshot, Snapshots
from bot.agent.standstill import Progress, Repetition
from bot.agent.tools import schemas, toolbox
from bot.agent.tools.schema import Finished, ToolError
from bot.agent.workbench import Workbench
from bot.domain import MutationResult, Suite, SuiteRun, Usage
from bot.errors import InconclusiveError, ModelError
from bot.models import Message, Model, Reply, ToolCall
from bot.models.budget import BudgetError
from bot.models.wire import assistant_message, tool_message

CUT_OFF = (
    "the reply was cut off at its length limit, so this call was not run; send it again in smaller parts"
)
LOOK_AT_RESULT = ToolCall("result", "run_tests", '{"reflection": ""}')


@dataclass(frozen=True, slots=True)
class Refinement:
    """What the loop made of a seed.

    Attributes:
        snapshots: Every state of the suite, the latest last.
        best: The best verified one; None if no test was ever collected.
        iterations: Model replies.
        usage: Of these replies; the seed's is not in it.
        mutation: What the best one and the existing tests catch, where that is known and nothing else was written.
        ended: Why it ended: `finish`, `iterations`, `plateau`, `stuck`, `silent` (no tool calls), `time`, `tokens`,
            `budget` or `model` (no reply could be had).
        note: One sentence on how it ended.
    """

    snapshots: tuple[Snapshot, ...]
    best: Suite | None
    iterations: int
    usage: Usage
    ended: str
    note: str = ""
    mutation: MutationResult | None = None


def refine(model: Model, brief: Brief, seed: Seed, workbench: Workbench, limits: AgentLimits) -> Refinement:
    """Improve a seed with a model's tool calls. A model that fails ends the loop, and what there is then is kept."""
    return Agent(model, workbench, limits).run(brief, seed)


class Agent:
    """One model at work on one suite."""

    def __init__(self, model: Model, bench: Workbench, limits: AgentLimits) -> None:
        self.model = model
        self.bench = bench
        self.messages: list[Message] = []
        self.snapshots = Snapshots(bench.target.path)
        self.meter = Meter(limits)
        self.repetition = Repetition(limits)
        self.progress = Progress(limits)
        self.limits = limits
        self.silent = 0

    def run(self, brief: Brief, seed: Seed) -> Refinement:
        """Put the seed on the workbench and take steps until one ends the loop."""
        self.begin(brief, seed)
        while True:
            try:
                self.step()
            except Interruption as interruption:
                self.messages.extend(interruption.messages)
                if interruption.ended:
                    return self.refinement(interruption)

    def step(self) -> None:
        """One iteration."""
        self.execute(self.query())

    def begin(self, brief: Brief, seed: Seed) -> None:
        """Run the seed and open the conversation with the target, the suite and its result."""
        if seed.code:
            self.bench.write(brief.suite_path, seed.code)
        result = observations.test_results(SuiteRun())
        if seed.code:
            result = self.output(LOOK_AT_RESULT)
        self.progress.check(self.look(), iteration=0, ran=False)
        suite = suite_block(brief.suite_path, seed.code, result)
        self.messages = [
            {"role": "system", "content": prompt("loop_system")},
            {"role": "user", "content": prompt("loop_user", target=target_block(brief), suite=suite)},
        ]

    def query(self) -> Reply:
        """Return the model's next reply. Raises Ended at a limit or without a reply."""
        self.meter.check()
        try:
            reply = self.model.complete(tuple(self.messages), schemas())
        except BudgetError as error:
            raise Ended("budget", error.message) from error
        except ModelError as error:
            raise Ended("model", error.message) from error
        self.meter.count(reply.usage)
        self.messages.append(assistant_message(reply))
        return reply

    def execute(self, reply: Reply) -> None:
        """Run a reply's calls in order and answer each. Raises Interruption where the step cannot go on from there."""
        self.check(reply)
        runs = self.bench.fresh_runs
        finished = None
        for call in reply.tool_calls:
            try:
                output = self.output(call)
            except Finished as end:
                finished, output = end, "finished"
            self.messages.append(tool_message(call, output))
            self.look()
            self.repetition.check(call, output, self.bench.suite())
        if finished is not None:
            raise Ended("finish", str(finished))
        self.progress.check(self.look(), self.meter.iterations, ran=self.bench.fresh_runs > runs)

    def check(self, reply: Reply) -> None:
        """Raise Unusable for a reply without a call or one that was cut off, and Ended after several without a call."""
        if reply.tool_calls and reply.finish_reason == "length":
            raise Unusable(*(tool_message(call, observations.error(CUT_OFF)) for call in reply.tool_calls))
        self.silent = 0 if reply.tool_calls else self.silent + 1
        if self.silent >= self.limits.silent:
            raise Ended("silent", f"{self.silent} replies in a row called no tool")
        if self.silent:
            raise Unusable({"role": "user", "content": prompt("no_call")})

    def output(self, call: ToolCall) -> str:
        """Return what a call prints, its error if it cannot be done. Raises Finished."""
        tool = toolbox().get(call.name)
        try:
            if tool is None:
                raise ToolError(f"there is no tool {call.name!r}; there are {', '.join(toolbox())}")
            return tool.call(self.bench, call.arguments)
        except ToolError as error:
            return observations.error(str(error))
        except InconclusiveError as error:
            return observations.error(error.message)

    def look(self) -> Snapshot:
        """Take a snapshot of the suite as it stands, with what is known of it."""
        run, mutation = self.bench.known_run(), self.bench.known_mutation()
        return self.snapshots.record(self.bench.suite(), self.meter.iterations, run, mutation)

    def refinement(self, end: Interruption) -> Refinement:
        """Verify the last state of the suite, and return the best one."""
        self.output(LOOK_AT_RESULT)
        self.look()
        best = self.snapshots.best(self.judged)
        suite = None if best is None else Suite(self.bench.suite_path, best.content)
        found = tuple(each for each in self.snapshots.all() if each.content)
        return Refinement(
            found, suite, self.meter.iterations, self.meter.usage, end.ended, end.note, self.verdicts(best)
        )

    def verdicts(self, best: Snapshot | None) -> MutationResult | None:
        """Return what is known of the mutants under the best state, unless something around it was changed."""
        if best is None or not self.bench.untouched:
            return None
        self.bench.write(self.bench.suite_path, best.content)
        return self.bench.known_mutation()

    def judged(self, snapshot: Snapshot) -> Snapshot:
        """Return a snapshot with its mutants judged, or as it was if they cannot be or it is no better than others."""
        self.bench.write(self.bench.suite_path, snapshot.content)
        known = [len(each.caught) for each in self.snapshots.all() if each.caught is not None]
        try:
            if known and self.bench.falls_short(max(known)):
                return snapshot
            return snapshot.with_mutation(self.bench.mutation())
        except InconclusiveError:
            return snapshot
