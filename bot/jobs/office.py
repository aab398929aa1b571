"""What the runs of one worker share: settings, the database, access to GitHub, and the wish to stop."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path

from bot.github.app import App
from bot.settings import Settings
from bot.store import Store


class Interrupted(BaseException):
    """This process is to end: what is under way stays as it is in the database, and is continued by the next."""


@dataclass(frozen=True, slots=True)
class Office:
    """One worker's belongings.

    Attributes:
        name: The worker's name, unique among those that share the database.
        work: The directory for what is under way; nobody else uses it.
        stopping: Set when the process is to end.
    """

    settings: Settings
    store: Store
    app: App
    name: str
    work: Path
    stopping: threading.Event = field(default_factory=threading.Event)

    def check(self) -> None:
        """Raise Interrupted if the process is to end."""
        if self.stopping.is_set():
            raise Interrupted
