"""Lock files: exactly the versions that a project was locked to, as requirements that an installer takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.environment.locks import pdm_lock, pipfile_lock, poetry_lock
from bot.environment.locks.pins import Pin, closure

READERS = {"poetry.lock": poetry_lock.read, "pdm.lock": pdm_lock.read, "Pipfile.lock": pipfile_lock.read}


@dataclass(frozen=True, slots=True)
class Locked:
    """What of a lock file an environment gets.

    Attributes:
        lines: Requirements from an index, with hashes where the lock has them.
        elsewhere: Requirements from repositories, addresses and directories of the tree.
        left_out: Sentences on what cannot be installed at all.
        unlocked: What the project asks for and the lock does not have.
    """

    lines: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    unlocked: tuple[str, ...] = ()


def read(tree: Path, lock: str, wanted: Sequence[str], environment: Mapping[str, str]) -> Locked:
    """Return what a lock file pins of the wanted requirements and of all that they need.

    Args:
        lock: Its name, one of `READERS`.
        wanted: Requirements of the code and its tests; Pipfile.lock says itself which they are.
        environment: Values of markers.
    """
    pins = READERS[lock](tree)
    unlocked: tuple[str, ...] = ()
    if lock == "Pipfile.lock":
        chosen = [pin for pin in pins if pin.fits(environment)]
    else:
        chosen, unlocked = closure(pins, wanted, environment)
    return _told(chosen, unlocked, tree, lock)


def from_export(text: str) -> Locked:
    """Return what `uv export` wrote: requirements with hashes on continued lines, directories and repositories among them."""
    logical = (line.strip() for line in text.replace("\\\n", " ").splitlines())
    lines: list[str] = []
    elsewhere: list[str] = []
    for line in logical:
        if line and not line.startswith("#"):
            from_index = not line.startswith(("-e", ".", "/", "file:")) and " @ " not in line.split(" ; ")[0]
            (lines if from_index else elsewhere).append(" ".join(line.split()))
    return Locked(tuple(lines), tuple(elsewhere))


def _told(pins: Sequence[Pin], unlocked: Sequence[str], tree: Path, lock: str) -> Locked:
    lines: list[str] = []
    elsewhere: list[str] = []
    left_out: list[str] = []
    for pin in pins:
        if not pin.source:
            lines.append(" ".join([f"{pin.name}=={pin.version}", *(f"--hash={each}" for each in pin.hashes)]))
        elif not pin.directory:
            elsewhere.append(f"{pin.name} @ {pin.source}")
        elif (tree / pin.source).resolve() == tree.resolve():
            continue  # the project itself, which is installed as such
        elif (tree / pin.source).resolve().is_relative_to(tree.resolve()) and (tree / pin.source).exists():
            path = (tree / pin.source).resolve().relative_to(tree.resolve())
            elsewhere.append(f"./{path.as_posix()}")
        else:
            left_out.append(
                f"{lock} takes {pin.name} from {pin.source}, which is no part of the repository, so it is not installed."
            )
    return Locked(
        tuple(dict.fromkeys(lines)), tuple(dict.fromkeys(elsewhere)), tuple(left_out), tuple(unlocked)
    )
