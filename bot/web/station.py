"""What the endpoints share: who the App is, and the engine that takes wishes, once there is one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import structlog

from bot.errors import TestforgeError
from bot.github.app import App
from bot.github.wishes import Wish
from bot.jobs.credentials import Credentials
from bot.jobs.engine import Engine, Receipt
from bot.settings import Settings
from bot.store import Store

_LOOK_AGAIN_S = 30.0


class Station:
    """The server's state.

    Args:
        complete: Returns the settings with the App's credentials, as far as there are any.
        lost: Called if another process may have taken over this worker's name.
    """

    def __init__(self, complete: Callable[[], Settings], store: Store, lost: Callable[[], None]) -> None:
        self._complete = complete
        self._lost = lost
        self._engine: Engine | None = None
        self._stopping = threading.Event()
        self.store = store
        self.settings = complete()
        self.bot_login = ""

    @property
    def has_app(self) -> bool:
        """Whether there are credentials of an App."""
        return self.settings.app_id is not None

    @property
    def webhook_secret(self) -> str:
        """What deliveries are signed with; empty if that is not known."""
        secret = self.settings.webhook_secret
        return secret.get_secret_value() if secret is not None else ""

    @property
    def is_ready(self) -> bool:
        """Whether wishes are taken."""
        return self._engine is not None and self._engine.is_ready

    def start(self) -> None:
        """Begin to work, if there is an App to work as.

        Raises:
            UsageError: The credentials cannot be used, or another worker has this one's name.
        """
        if not self.has_app:
            return
        app = App(self.settings)
        self._engine = Engine(self.settings, self.store, app, self._lost)
        self._engine.start()
        threading.Thread(target=self._learn_login, args=(app,), name="testforge-login", daemon=True).start()

    def adopt(self, credentials: Credentials) -> None:
        """Begin to work as an App that GitHub has just made; its credentials are kept already."""
        self.settings = self._complete()
        self.bot_login = f"{credentials.slug}[bot]"
        self.start()

    def submit(self, wishes: Sequence[Wish]) -> list[Receipt]:
        """Put wishes into the database."""
        assert self._engine is not None
        return self._engine.submit(wishes)

    def stop(self) -> None:
        """Work no more; what is under way is continued by the next process."""
        self._stopping.set()
        if self._engine is not None:
            self._engine.stop()

    def _learn_login(self, app: App) -> None:
        """Ask GitHub for the App's login until it says; the bot's own check boxes are known by it."""
        log = structlog.get_logger("testforge.app")
        while not self.bot_login:
            try:
                self.bot_login = app.identity().login
                log.info("the App is known to GitHub", login=self.bot_login)
            except TestforgeError as error:
                log.warning("GitHub does not say who the App is", reason=error.message)
                if self._stopping.wait(_LOOK_AGAIN_S):
                    return
