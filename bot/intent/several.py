"""Questions about several functions: which is asked next, and which are worth asking at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from bot.intent.dialogue import Answer, State, replay
from bot.intent.inquiry import Inquiry
from bot.intent.ranking import ranked
from bot.programs.assertions import Assertion


@dataclass(frozen=True, slots=True)
class Topic:
    """A function that can be asked about, with what was said of it.

    Attributes:
        answers: In the order given; those to assertions that the inquiry does not know (the function has changed
            since) rule nothing out.
        most: How many questions about it there may be.
    """

    inquiry: Inquiry
    answers: tuple[tuple[Assertion, str], ...]
    most: int

    @property
    def state(self) -> State:
        """Where its dialogue stands."""
        numbers: Mapping[Assertion, int] = {
            one: number for number, one in enumerate(self.inquiry.pool.table.assertions)
        }
        known = [(numbers[one], cast("Answer", answer)) for one, answer in self.answers if one in numbers]
        return replay(self.inquiry.pool, known)

    @property
    def question(self) -> Assertion | None:
        """The assertion to ask about next; None if there is none left, or if enough were asked.

        Only what is in doubt is asked of somebody who did not ask for it: whether the code is right where a model
        would have written other code, or where its own documentation says something else. That slight changes of the
        code give something else is no doubt.
        """
        if len(self.answers) >= self.most:
            return None
        state, pool = self.state, self.inquiry.pool
        meant = [one for one in state.alive if self.inquiry.candidates[one].origin != "mutant"]
        doubts = self.inquiry.doubts(state)
        for number in ranked(pool, meant, state.asked):
            letters = {pool.table.outcomes[one][number] for one in meant}
            if number in doubts or {"P", "F"} <= letters:
                return pool.table.assertions[number]
        return None


def next_topic(topics: Sequence[Topic]) -> tuple[int, Assertion] | None:
    """Return the topic to go on with, by index, and the question: the one least asked about so far, the first of equals."""
    ready = [(len(topic.answers), number) for number, topic in enumerate(topics) if topic.question]
    if not ready:
        return None
    number = min(ready)[1]
    question = topics[number].question
    assert question is not None
    return number, question
