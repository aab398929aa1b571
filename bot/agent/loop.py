"""The refine loop: reply, tool calls, observations, until it ends (TestForge, section 3; METHODS 1.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bot.agent import observations
from bot.agent.brief import Brief, suite_block, target_block
from bot.agent.dialogue import Dialogue
from bot.agent.interruptions import Ended, Interruption, Unusable
from bot.agent.limits import AgentLimits, Meter
from bot.agent.memory import condensed, fitted
from bot.agent.prompts import prompt
from bot.agent.seed import Seed
from bot.agent.snapshots import Snapshot, Snapshots
from bot.agent.standstill import Progress, Repetition
from bot.agent.tools import schemas, toolbox
from bot.agent.tools.schema import Finished, ToolError
from bot.agent.workbench import Workbench
from bot.domain import MutationResult, Suite, SuiteRun, Usage
from bot.errors import InconclusiveError, ModelError
from bot.models import Kind, Message, Model, Reply, ToolCall, traits_of
from bot.models.budget import BudgetError
from bot.models.failures import ContextError
from bot.models.wire import assistant_message, tool_message

MOST_CALLS = 20
TOO_MANY = f"only the first {MOST_CALLS} calls of a reply are run; send this one again if it is still needed"
CUT_OFF = (
    "the reply was cut off at its length limit, so this call was not run; send it again in smaller parts"
)
_FAULTS = {
    Kind.OK: "called no tool",
    Kind.TRUNCATED: "was cut off at its length limit",
    Kind.REFUSED: "was a refusal",
    Kind.MALFORMED: "held no call that can be read",
    Kind.EMPTY: "was empty",
}
SCHEMA_CHARACTERS = 8_000
"""What the tools take up in every request."""
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
        ended: Why it ended: `finish`, `iterations`, `plateau`, `stuck`, `silent` (replies that did nothing), `time`, `tokens`,
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


def refine(
    model: Model,
    brief: Brief,
    seed: Seed,
    workbench: Workbench,
    limits: AgentLimits,
    note: Callable[[str], None] = lambda _: None,
) -> Refinement:
    """Improve a seed with a model's tool calls. A model that fails ends the loop, and what there is then is kept.

    Args:
        note: Told after every reply what the file has cost so far, where it costs anything.
    """
    return Agent(model, workbench, limits, note).run(brief, seed)


class Agent:
    """One model at work on one suite."""

    def __init__(
        self, model: Model, bench: Workbench, limits: AgentLimits, note: Callable[[str], None]
    ) -> None:
        self.dialogue = Dialogue(model, bench.suite_path)
        self.window = traits_of(model).window
        self.note = note
        self.bench = bench
        self.messages: list[Message] = []
        self.snapshots = Snapshots(bench.target.path)
        self.meter = Meter(limits)
        self.repetition = Repetition(limits)
        self.progress = Progress(limits)
        self.limits = limits
        self.seeded = Usage()
        self.idle = 0

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
        self.seeded = seed.usage
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
        self.messages = fitted(self.messages, self.window, SCHEMA_CHARACTERS)
        try:
            reply = self.reply()
        except BudgetError as error:
            raise Ended("budget", error.message) from error
        except ModelError as error:
            raise Ended("model", error.message) from error
        self.meter.count(reply.usage)
        self.messages.append(assistant_message(reply))
        spent = self.seeded + self.meter.usage
        if spent.prompt:
            tokens = spent.prompt + spent.completion
            self.note(f"turn {self.meter.iterations}, {tokens:,} tokens, ${spent.cost_usd:.4f} so far")
        return reply

    def reply(self) -> Reply:
        """Return the model's reply; a conversation that turns out to be too long for it is sent again in short."""
        try:
            return self.dialogue.complete(tuple(self.messages), schemas())
        except ContextError:
            short = condensed(self.messages)
            if short == self.messages:
                raise
            self.messages = short
            return self.dialogue.complete(tuple(short), schemas())

    def execute(self, reply: Reply) -> None:
        """Run a reply's calls in order and answer each. Raises Interruption where the step cannot go on from there."""
        self.check(reply)
        runs = self.bench.fresh_runs
        finished = None
        for place, call in enumerate(reply.tool_calls):
            try:
                output = self.output(call) if place < MOST_CALLS else observations.error(TOO_MANY)
            except Finished as end:
                finished, output = end, "finished"
            self.messages.append(tool_message(call, output))
            if place >= MOST_CALLS:
                continue
            self.look()
            self.repetition.check(call, output, self.bench.suite())
        if finished is not None:
            raise Ended("finish", str(finished))
        self.progress.check(self.look(), self.meter.iterations, ran=self.bench.fresh_runs > runs)

    def check(self, reply: Reply) -> None:
        """Raise Unusable for a reply without a call or one that was cut off, and Ended after several that did nothing."""
        useful = reply.kind is Kind.OK and reply.tool_calls
        self.idle = 0 if useful else self.idle + 1
        if self.idle >= self.limits.silent:
            raise Ended(
                "silent", f"{self.idle} replies in a row did nothing; the last one {_FAULTS[reply.kind]}"
            )
        if reply.kind is Kind.TRUNCATED and reply.tool_calls:
            raise Unusable(*(tool_message(call, observations.error(CUT_OFF)) for call in reply.tool_calls))
        if not reply.tool_calls:
            raise Unusable(self.dialogue.nudge(reply))

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
