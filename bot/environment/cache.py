"""Directories made once and kept between runs: whole or not there, also when two runs make the same one at once."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.environment.locking import locked_file
from bot.sandbox.copying import delete_tree

MARKER = "complete.json"
UNUSED_S = 30 * 24 * 3600.0
"""What no run has used for so long is deleted."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A complete directory, and what its maker wrote down about it."""

    path: Path
    facts: dict[str, Any]


def obtain(
    parent: Path,
    key: str,
    build: Callable[[Path], dict[str, Any]],
    *,
    valid: Callable[[Path], bool],
    note: Callable[[str], None],
) -> Kept:
    """Return the directory `parent/key`, made by `build` unless it is there, complete and `valid`.

    Args:
        build: Fills an empty directory; what it returns (JSON) is kept as `facts`. If it raises, nothing is kept.
        note: Told when another run is making the same one and is waited for.
    """
    parent.mkdir(parents=True, exist_ok=True)
    place = parent / key
    with locked_file(parent / f"{key}.lock", note):
        facts = _facts(place)
        if facts is not None and valid(place):
            os.utime(place / MARKER)
            return Kept(place, facts)
        delete_tree(place)
        try:
            place.mkdir()
            facts = build(place)
            draft = place / f"{MARKER}.draft"
            draft.write_text(json.dumps(facts))
            draft.rename(place / MARKER)
        except BaseException:
            delete_tree(place)
            raise
    _delete_unused(parent)
    return Kept(place, facts)


def _facts(place: Path) -> dict[str, Any] | None:
    try:
        facts = json.loads((place / MARKER).read_text())
    except (OSError, ValueError):
        return None
    return facts if isinstance(facts, dict) else None


def _delete_unused(parent: Path) -> None:
    for marker in sorted(parent.glob(f"*/{MARKER}")):
        with contextlib.suppress(OSError):
            if time.time() - marker.stat().st_mtime > UNUSED_S:
                with locked_file(parent / f"{marker.parent.name}.lock", lambda _: None):
                    delete_tree(marker.parent)
