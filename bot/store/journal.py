"""The model calls of a run: a run that is started again after a crash is given the replies that it has had already."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import sqlalchemy as sa

from bot.store.tables import model_calls


class Journal:
    """The replies of one run, in the database."""

    def __init__(self, engine: sa.Engine, run: str) -> None:
        self._engine = engine
        self._run = run
        self._seen: Counter[str] = Counter()
        self._lock = threading.Lock()

    def cost(self) -> float:
        """Return what the replies in it have cost, in USD."""
        query = sa.select(model_calls.c.reply).where(model_calls.c.run == self._run)
        with self._engine.connect() as connection:
            replies = [json.loads(text) for text in connection.execute(query).scalars()]
        return sum(float(reply.get("usage", {}).get("cost_usd", 0.0)) for reply in replies)

    def next_call(self, request: Sequence[Mapping[str, Any]]) -> Call:
        """Return the place in the journal of a request that is about to be made."""
        key = fingerprint(request)
        with self._lock:  # several files of a run are worked on at once
            self._seen[key] += 1
            occurrence = self._seen[key]
        return Call(self._engine, self._run, key, occurrence)


class Call:
    """One call of a model: its reply is looked for, and where there is none, made and written down."""

    def __init__(self, engine: sa.Engine, run: str, key: str, occurrence: int) -> None:
        self._engine = engine
        self._place = {"run": run, "request": key, "occurrence": occurrence}

    def read(self) -> dict[str, Any] | None:
        """Return the reply that was had before; None if there is none."""
        where = [model_calls.c[name] == value for name, value in self._place.items()]
        with self._engine.connect() as connection:
            found = connection.execute(sa.select(model_calls.c.reply).where(*where)).scalar()
        return None if found is None else dict(json.loads(found))

    def write(self, reply: Mapping[str, Any]) -> None:
        """Keep the reply."""
        with self._engine.begin() as connection:
            connection.execute(
                sa.insert(model_calls).values(**self._place, reply=json.dumps(dict(reply)), at=time.time())
            )


def fingerprint(request: Sequence[Mapping[str, Any]]) -> str:
    """Return what a request is known by, whenever and wherever it is made."""
    text = _varying(tempfile.gettempdir()).sub("~", json.dumps(list(request), sort_keys=True, default=str))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@cache
def _varying(temporary: str) -> re.Pattern[str]:
    """Return what differs in a conversation that is led a second time, here or on another machine, though nothing else does."""
    return re.compile(
        r"\b\d+\.\d+ ?s\b"  # how long something took
        r"|\b0x[0-9a-f]{6,16}\b"  # where an object lay
        rf"|(?:/tmp|{re.escape(temporary)})/[\w./-]*"  # the names of temporary directories
    )
