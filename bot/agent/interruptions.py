"""What interrupts the refine loop: exceptions that carry the messages to append, and why it ends if it does."""

from __future__ import annotations

from bot.models import Message


class Interruption(Exception):  # noqa: N818 - not an error: the loop's own turns
    """Breaks off a step.

    Args:
        messages: What is appended to the conversation.
        ended: Why the loop ends (`finish`, `iterations` ...); empty if it goes on.
        note: One sentence on it for a person.
    """

    def __init__(self, *messages: Message, ended: str = "", note: str = "") -> None:
        super().__init__(ended or "interrupted")
        self.messages = messages
        self.ended = ended
        self.note = note


class Unusable(Interruption):
    """The reply cannot be acted on; the messages say why, and the model tries again."""


class Ended(Interruption):
    """The loop is over."""

    def __init__(self, ended: str, note: str = "") -> None:
        super().__init__(ended=ended, note=note)
