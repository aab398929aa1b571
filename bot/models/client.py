"""Loading a model by name: the built-in one, or any that LiteLLM reaches; traced, recorded or replayed where asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bot.domain import Usage
from bot.errors import ModelError, UsageError
from bot.models import Model
from bot.models.budget import Budget
from bot.models.builtin import NAME, BuiltIn
from bot.models.cassette import TRACE, Recorder, Recording
from bot.models.failures import SetupError, UnreadableError
from bot.models.prices import Price, read_price
from bot.models.redaction import Redactor, configured
from bot.models.remote import Remote
from bot.models.replay import Cassette, Replaying
from bot.models.retry import Retry
from bot.models.trace import Trace, Traced

CHECK_S = 30.0
"""Seconds in which a model answers a word, if a network that swallows everything is to be told from it."""
GREETING = {"role": "user", "content": "Answer with one word: ready"}


@dataclass(frozen=True, slots=True)
class Tapes:
    """What is kept of a run's calls, and where.

    Attributes:
        trace: A file to which a line is added for every call; without one, `TESTFORGE_TRACE`.
        record: A directory in which calls and replies are kept to be replayed; a trace goes there too.
        replay: A directory from which the replies are taken; no model is called.
    """

    trace: Path | None = None
    record: Path | None = None
    replay: Path | None = None


def load(name: str, *, seed: int, budget_usd: float | None, tapes: Tapes | None = None) -> Model:
    """Return the model of a name; nothing is imported or called until its first reply.

    Args:
        name: `testforge/offline`, or a name as LiteLLM spells it, such as `openai/gpt-4o`.
        seed: Passed to models that take one.
        budget_usd: What all replies of this model together may cost; None is no limit. Where the price of a model
            is not known, only its tokens are counted.
        tapes: What is kept of its calls.

    Raises:
        UsageError: A tape cannot be read or written, or the operator's price cannot be read.
    """
    from bot.settings import load as settings

    kept = tapes or Tapes()
    redactor = configured()
    model = _model(name, seed, budget_usd, redactor)
    if kept.replay is not None:
        model = Replaying(name, seed, Cassette(kept.replay), redactor)
    trace = kept.trace or settings().trace
    if kept.record is not None:
        model = Recording(model, seed, Recorder(kept.record, redactor), redactor)
        trace = trace or kept.record / TRACE
    return model if trace is None else Traced(model, Trace(trace, redactor), seed)


def greet(model: Model) -> Usage:
    """Make sure, before any work, that a model answers, by one short call; return what that used.

    The built-in model always answers. A failure that may pass, or a budget at its end, is left to the run to tell.

    Raises:
        UsageError: It cannot answer until something is set up: its name, its key, its address, the network.
    """
    if model.name == NAME:
        return Usage()
    remote = remote_of(model)
    if remote is not None:
        usual = remote.retry, remote.call_s
        remote.retry, remote.call_s = replace(remote.retry, timeouts=1), CHECK_S
    try:
        return model.complete((GREETING,)).usage
    except (SetupError, UnreadableError) as error:
        raise UsageError(error.message) from None
    except ModelError:
        return Usage()
    finally:
        if remote is not None:
            remote.retry, remote.call_s = usual


def remote_of(model: Any) -> Remote | None:
    """Return what calls a provider, whatever stands around it; None where nothing does."""
    while model is not None and not isinstance(model, Remote):
        model = getattr(model, "model", None)
    return model


def check(name: str) -> list[str]:
    """Return what has to be set up before a model can answer, one sentence each; nothing if it answers."""
    try:
        model = _model(name, 0, None, configured())
        if isinstance(model, Remote):
            model.retry, model.call_s = Retry(attempts=1), CHECK_S
        if name != NAME:
            model.complete((GREETING,))
    except (ModelError, UsageError) as error:
        return [error.message]
    return []


def price_of(name: str) -> Price:
    """Return what is known of the price of a model; the built-in one costs nothing."""
    model = _model(name, 0, None, Redactor())
    return model.price if isinstance(model, Remote) else Price(source="list")


def _model(name: str, seed: int, budget_usd: float | None, redactor: Redactor) -> Model:
    from bot.settings import load as settings

    if name == NAME:
        return BuiltIn(seed)
    price = settings().model_price
    if price is not None:
        read_price(price)
    return Remote(name, seed, Budget(budget_usd), redactor=redactor, configured_price=price)
