"""The operator's settings, from the environment (`TESTFORGE_...`), and where testforge keeps its cache."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from bot.errors import UsageError

DATABASE_FILE = "testforge.sqlite"
"""Of the server, in its data directory, unless the operator names another database."""


class Settings(BaseSettings):
    """What the environment sets; a variable that is empty counts as not set."""

    model_config = SettingsConfigDict(
        env_prefix="TESTFORGE_", env_ignore_empty=True, frozen=True, extra="ignore"
    )

    model: str | None = Field(
        default=None, description="The model's name for LiteLLM, such as `openai/gpt-4o`."
    )
    model_price: str | None = Field(
        default=None,
        description="USD for a million tokens of prompt and of reply, such as `2.50,10`, where LiteLLM does not know it.",
    )
    trace: Path | None = Field(default=None, description="A file to which every model call adds a line.")
    sandbox: Literal["auto", "docker", "process"] = Field(
        default="auto", description="Where a repository's code runs."
    )
    sandbox_runtime: Literal["runc", "runsc"] | None = Field(
        default=None, description="Docker's runtime; runsc is gVisor."
    )
    sandbox_network: str = Field(
        default="bridge",
        description="Docker's network for installations; the tests themselves never have one.",
    )
    sandbox_images_gb: float = Field(
        default=20.0,
        gt=0,
        description="Images of environments are removed, oldest use first, beyond so many GB.",
    )
    data_directory: Path | None = Field(
        default=None, description="Where the server keeps its database and what /setup gives it."
    )
    database_url: str | None = Field(
        default=None, description="Where the server keeps its runs; None: SQLite in the data directory."
    )
    worker_name: str | None = Field(
        default=None, description="Name of this server or worker, unique and the same after a restart."
    )
    runs_at_once: int = Field(
        default=1, ge=0, le=64, description="Reviews that one worker runs at a time; 0: only take webhooks."
    )
    runs_in_all: int = Field(
        default=16, ge=1, le=1024, description="Reviews that all workers together run at a time."
    )
    run_minutes: float = Field(
        default=120.0, gt=0, description="A review that takes longer is ended, in minutes."
    )
    run_budget_usd: float | None = Field(
        default=None, ge=0, description="What the models of one run may cost, in USD; None: no limit."
    )
    month_budget_usd: float | None = Field(
        default=None,
        ge=0,
        description="What a repository's runs of a month may cost, in USD; None: no limit.",
    )
    keep_days: float = Field(default=30.0, gt=0, description="Ended runs are deleted after so many days.")
    allow_process_sandbox: bool = Field(
        default=False,
        description="Let the server run code without a container; for repositories of people one trusts only.",
    )
    github_url: str = Field(default="https://api.github.com", description="Base of GitHub's API.")
    github_api_version: str = Field(
        default="2022-11-28",
        description="Version of GitHub's API; older Enterprise Servers refuse newer ones.",
    )
    github_timeout_s: float = Field(
        default=30.0, gt=0, description="For how long an answer of GitHub is waited for."
    )
    app_id: int | None = Field(default=None, description="The GitHub App's number.")
    private_key: SecretStr | None = Field(default=None, description="The App's private key, in PEM form.")
    private_key_file: Path | None = Field(default=None, description="A file that holds it.")
    webhook_secret: SecretStr | None = Field(default=None, description="The App's webhook secret.")
    host: str = Field(default="127.0.0.1", description="Address that the server listens on.")
    public_url: str | None = Field(
        default=None,
        description="Where GitHub and people reach the server, such as https://testforge.example.org.",
    )
    port: int = Field(default=8000, ge=0, le=65535, description="Port that the server listens on.")


def load() -> Settings:
    """Return the settings of this process's environment.

    Raises:
        UsageError: A variable has a wrong value.
    """
    try:
        return Settings()
    except ValidationError as error:
        problem = error.errors(include_input=False, include_context=False, include_url=False)[0]
        name = "TESTFORGE_" + str(problem["loc"][0]).upper()
        message = problem["msg"]
        raise UsageError(
            f"The environment variable {name} has a wrong value: {message[:1].lower()}{message[1:]}."
        ) from None


def data_directory(settings: Settings) -> Path:
    """Return the server's own directory, closed to other users: the one set, or `$XDG_DATA_HOME/testforge`.

    Raises:
        UsageError: It cannot be made or written.
    """
    place = data_place(settings)
    if not _is_ours_to_write(place):
        raise UsageError(
            f"The server cannot write its directory {str(place)!r}. Set TESTFORGE_DATA_DIRECTORY to one of its own."
        )
    return place.resolve()


def data_place(settings: Settings) -> Path:
    """Return where the server's own directory lies, or would lie; nothing is made."""
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - Path.home() raises where there is no home
    shared = os.environ.get("XDG_DATA_HOME", "")
    return (
        settings.data_directory
        or (Path(shared) if Path(shared).is_absolute() else home / ".local" / "share") / "testforge"
    )


def database_url(settings: Settings) -> str:
    """Return where the server keeps its runs. Raises UsageError if its directory cannot be written."""
    return settings.database_url or f"sqlite:///{data_directory(settings) / DATABASE_FILE}"


def cache_directory() -> Path:
    """Return the directory for what testforge keeps between runs: `$XDG_CACHE_HOME` or `~/.cache`, plus `testforge`.

    Where that cannot be written (a container's read-only home), it is a directory of this user in the temporary one.
    """
    configured = os.environ.get("XDG_CACHE_HOME", "")
    candidates = []
    if Path(configured).is_absolute():  # the specification says to ignore relative ones
        candidates.append(Path(configured) / "testforge")
    else:
        home = Path(os.path.expanduser("~"))  # noqa: PTH111 - Path.home() raises where there is no home
        candidates.append(home / ".cache" / "testforge")
    candidates.append(Path(tempfile.gettempdir()) / f"testforge-{os.getuid()}")
    for candidate in candidates:
        if _is_ours_to_write(candidate):
            return candidate
    return Path(tempfile.mkdtemp(prefix="testforge-"))


def _is_ours_to_write(directory: Path) -> bool:
    """Make a directory if need be, and tell whether it belongs to this user and can be written."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        # In a shared temporary directory somebody else may have made it first, to plant files in it.
        return directory.stat().st_uid == os.getuid() and os.access(directory, os.W_OK | os.X_OK)
    except OSError:
        return False
