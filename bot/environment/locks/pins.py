"""The packages of a lock file, and which of them an environment needs: a walk from what is wanted along what needs what."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from packaging.markers import InvalidMarker, Marker, UndefinedComparison, UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion


@dataclass(frozen=True, slots=True)
class Pin:
    """One version of one package.

    Attributes:
        name: Canonical.
        version: Without operator.
        hashes: Of its files, such as `sha256:...`.
        needs: What it needs in turn, as requirements; those of an extra have a marker that says so.
        markers: It is for environments where one of them holds; empty is for all.
        python: Specifiers for Python; empty is any.
        extras: The entry is for these extras of the package only (pdm).
        source: An address or a directory that it comes from; empty is an index.
        directory: Whether `source` is a directory.
        always: Wanted, whether something names it or not.
    """

    name: str
    version: str = ""
    hashes: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    markers: tuple[str, ...] = ()
    python: str = ""
    extras: frozenset[str] = frozenset()
    source: str = ""
    directory: bool = False
    always: bool = False

    def fits(self, environment: Mapping[str, str]) -> bool:
        """Tell whether an environment with these markers may have it."""
        if self.python and not _within(environment.get("python_full_version", ""), self.python):
            return False
        return not self.markers or any(holds(text, environment) for text in self.markers)


def closure(
    pins: Sequence[Pin], wanted: Sequence[str], environment: Mapping[str, str]
) -> tuple[list[Pin], tuple[str, ...]]:
    """Return the pins that are wanted or needed by those that are, sorted by name, and the wanted requirements without one."""
    fitting: dict[str, list[Pin]] = {}
    for pin in pins:
        if pin.fits(environment):
            fitting.setdefault(pin.name, []).append(pin)
    found: dict[str, Pin] = {}
    walked: set[tuple[str, frozenset[str]]] = set()
    unlocked: list[str] = []
    waiting = [(line, frozenset[str](), True) for line in wanted]
    waiting += [(pin.name, frozenset[str](), False) for pin in pins if pin.always and pin.fits(environment)]
    while waiting:
        line, extras, is_wanted = waiting.pop(0)
        need = _needed(line, environment, extras)
        if need is None:
            continue
        name = canonicalize_name(need.name)
        asked = frozenset(canonicalize_name(extra) for extra in need.extras)
        if (name, asked) in walked:
            continue
        walked.add((name, asked))
        entries = fitting.get(name, [])
        if not entries:
            if is_wanted:
                unlocked.append(line)
            continue
        chosen = _choose(entries, need.specifier)
        found.setdefault(name, chosen)
        same = [pin for pin in entries if pin.version == found[name].version and pin.extras <= asked]
        waiting += [(each, asked, False) for pin in same or [chosen] for each in pin.needs]
    return [found[name] for name in sorted(found)], tuple(dict.fromkeys(unlocked))


def holds(marker: str, environment: Mapping[str, str], extras: Collection[str] = ()) -> bool:
    """Tell whether a marker holds for one of the extras, or without any; one that cannot be read holds."""
    try:
        parsed = Marker(marker)
        return any(parsed.evaluate({**environment, "extra": extra}) for extra in ("", *sorted(extras)))
    except (InvalidMarker, UndefinedComparison, UndefinedEnvironmentName):
        return True


def _needed(line: str, environment: Mapping[str, str], extras: Collection[str]) -> Requirement | None:
    try:
        need = Requirement(line)
    except InvalidRequirement:
        return None
    return need if need.marker is None or holds(str(need.marker), environment, extras) else None


def _choose(entries: Sequence[Pin], specifier: SpecifierSet) -> Pin:
    """Return the entry that a requirement means: of several versions for several Pythons the one that it allows."""
    plain = [pin for pin in entries if not pin.extras] or list(entries)
    for pin in plain:
        try:
            if specifier.contains(pin.version, prereleases=True):
                return pin
        except InvalidVersion:
            continue
    return plain[0]


def _within(version: str, specifiers: str) -> bool:
    try:
        return not version or SpecifierSet(specifiers, prereleases=True).contains(version)
    except (InvalidSpecifier, InvalidVersion):
        return True
