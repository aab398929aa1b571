"""The file to deliver: what is left of a candidate, laid out as the repository does, or merged into its own test file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from bot.domain import Suite
from bot.sandbox import Sandbox
from bot.select.draft import Remainder
from bot.select.formatting import tidy, tidy_addition
from bot.select.merging import merge
from bot.select.nodes import Spot
from bot.select.placement import Placement
from bot.select.style import Style, style_of


@dataclass(frozen=True, slots=True)
class Composition:
    """A suite to deliver, and where each remaining test of the candidate is written in it."""

    suite: Suite
    moved: Mapping[Spot, Spot]


@dataclass(frozen=True, slots=True)
class Workplace:
    """What composing needs to know of the repository.

    Attributes:
        existing: The text of the file to extend; None for a new file.
        style: The repository's layout at that place.
    """

    placement: Placement
    existing: str | None
    style: Style


def workplace(box: Sandbox, placement: Placement) -> Workplace:
    """Read the file to extend, its neighbours and the style settings from a pristine copy of the repository."""
    existing = texts(box, [placement.final_path]).get(placement.final_path) if placement.extends else None
    near = list(texts(box, [placement.final_path, *placement.examples]).values())
    style = style_of(box.files(), reader(box), placement.final_path, near=near)
    return Workplace(placement, existing, style)


def compose(place: Workplace, remainder: Remainder) -> Composition:
    """Return the file to deliver for what is left of a candidate.

    Where its tests cannot live in the existing file, they become a new file beside it.
    """
    path = place.placement.final_path
    content = tidy(remainder.content, place.style, path)
    if place.existing is not None:
        merged = merge(place.existing, content)
        if merged is not None:
            content = _laid_out(place.existing, merged.content, place.style, path)
            moved = {
                old: replace(new, function=merged.renamed.get(new.function, new.function))
                for old, new in remainder.moved.items()
            }
            return Composition(Suite(path, content, is_new=False), moved)
    if place.placement.extends:
        path = place.placement.suite_path
    return Composition(Suite(path, content, is_new=True), remainder.moved)


def _laid_out(existing: str, content: str, style: Style, path: str) -> str:
    """Lay out an extended file; one with Windows line ends keeps them."""
    if "\r\n" not in existing:
        return tidy_addition(existing, content, style, path)
    plain = tidy_addition(existing.replace("\r\n", "\n"), content.replace("\r\n", "\n"), style, path)
    return plain.replace("\n", "\r\n")


def reader(box: Sandbox) -> Callable[[str], str]:
    """Return what gives a file's text in a sandbox; raises OSError or ValueError where there is none."""

    def read(path: str) -> str:
        return box.read(path).decode()

    return read


def texts(box: Sandbox, paths: Sequence[str]) -> Mapping[str, str]:
    """Return the files that can be read as text, by path."""
    read = reader(box)
    found: dict[str, str] = {}
    for path in paths:
        try:
            found[path] = read(path)
        except (OSError, ValueError):
            continue
    return found
