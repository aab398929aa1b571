"""Who the App is: from the environment, or from what `/setup` was given by GitHub and keeps in the data directory."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pydantic import SecretStr

from bot import settings
from bot.errors import GitHubError, UsageError
from bot.github.wire import Wire
from bot.settings import Settings

_FILE = "app.json"


@dataclass(frozen=True, slots=True)
class Credentials:
    """What GitHub gives out for a new App."""

    app_id: int
    slug: str
    html_url: str
    private_key: str = field(repr=False)
    webhook_secret: str = field(repr=False)

    def save(self, directory: Path) -> Path:
        """Write them to a file that nobody else can read, and return which."""
        path = directory / _FILE
        half = directory / f"{_FILE}.half"
        half.unlink(missing_ok=True)
        descriptor = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(asdict(self), file)
            file.flush()
            os.fsync(descriptor)
        half.replace(path)
        return path


def stored(directory: Path) -> Credentials | None:
    """Return the credentials kept in a directory; None if there are none.

    Raises:
        UsageError: The file there cannot be read.
    """
    path = directory / _FILE
    try:
        return Credentials(**json.loads(path.read_text("utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError):
        raise UsageError(
            f"{str(path)!r} does not hold the App's credentials. Remove it and open /setup again."
        ) from None


def exchange(operator: Settings, code: str) -> Credentials:
    """Return the credentials of an App that GitHub has just made from a manifest, for the code that it sent back.

    Raises:
        GitHubError: GitHub does not know the code, or does not answer.
    """
    wire = Wire(
        operator.github_url, api_version=operator.github_api_version, timeout_s=operator.github_timeout_s
    )
    reply = wire.send("POST", f"/app-manifests/{code}/conversions")
    if reply.status != 201 or not isinstance(reply.data, dict):
        raise GitHubError("GitHub does not know that code, or it is older than an hour. Open /setup again.")
    data = reply.data
    try:
        return Credentials(
            int(data["id"]),
            str(data["slug"]),
            str(data["html_url"]),
            str(data["pem"]),
            str(data["webhook_secret"]),
        )
    except (KeyError, TypeError, ValueError):
        raise GitHubError("GitHub's answer lacks the App's credentials. Open /setup again.") from None


def load() -> Settings:
    """Return the operator's settings, the App's credentials among them where `/setup` has got them.

    What the environment sets counts more than what is kept.

    Raises:
        UsageError: A variable has a wrong value, or the data directory cannot be used.
    """
    return complete(settings.load())


def complete(operator: Settings) -> Settings:
    """Return settings with what `/setup` keeps added."""
    if operator.app_id is not None:
        return operator
    return joined(operator, settings.data_directory(operator))


def joined(operator: Settings, directory: Path) -> Settings:
    """Return settings with what `/setup` keeps in a directory added.

    Raises:
        UsageError: The file there cannot be read.
    """
    kept = stored(directory)
    if kept is None:
        return operator
    return operator.model_copy(
        update={
            "app_id": kept.app_id,
            "private_key": operator.private_key or SecretStr(kept.private_key),
            "webhook_secret": operator.webhook_secret or SecretStr(kept.webhook_secret),
        }
    )
