"""What tests do, as hashes: the same for a test of another name, so that one that was dismissed is known again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from bot.domain import TestResult
from bot.select.duplicates import Sayings
from bot.select.nodes import Spot, spots
from bot.select.tables import outline


def behaviours(source: str, tests: Iterable[Spot]) -> Mapping[Spot, str]:
    """Return a hash of what each test of a file says, its name, layout and documentation left out."""
    said = Sayings(source)
    return {spot: hashlib.sha256(said.of(spot).encode("utf-8", "replace")).hexdigest()[:32] for spot in tests}


def delivered(content: str, path: str, results: Iterable[TestResult]) -> Mapping[str, str]:
    """Return what each test of a delivered file does, by node id; `results` are of a run of it and maybe of others."""
    own = [result for result in results if result.id.partition("::")[0] == path]
    found = spots(outline(content), own)
    said = behaviours(content, found.values())
    return {test: said[spot] for test, spot in found.items()}
