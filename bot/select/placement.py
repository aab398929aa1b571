"""Where a target's tests go: the file that already tests it, or a new one where the repository keeps its tests."""

from __future__ import annotations

import fnmatch
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from bot.domain import Target
from bot.repoconfig import RepoConfig
from bot.select.testlayout import (
    TEST_DIRECTORIES,
    Read,
    TestLayout,
    imports,
    names_for,
    parent_of,
    plain,
    read_layout,
    stem_of,
    text_of,
)

_EXAMPLES = 2


@dataclass(frozen=True, slots=True)
class Placement:
    """Where tests for one target are written.

    Attributes:
        suite_path: Where the candidate is written: a file of its own that does not exist yet, next to `final_path`.
        final_path: The existing file to extend, or the new file.
        extends: Whether `final_path` exists.
        examples: The nearest existing tests, as examples of style, nearest first.
    """

    suite_path: str
    final_path: str
    extends: bool
    examples: tuple[str, ...] = ()


def place(
    files: Sequence[str],
    read: Read,
    target: Target,
    config: RepoConfig,
    *,
    unusable: Collection[str] = (),
) -> Placement:
    """Decide where a target's tests go.

    Args:
        files: All paths of the repository at head.
        read: Gives a file's text; may raise OSError or ValueError for one that is not text.
        target: The changed source file.
        config: `tests.directory` overrides where new files go and which existing ones are looked at.
        unusable: Test files not to extend: whatever is added to them would not run, or fall with them.
    """
    layout = read_layout(files, read, config.tests.directory)
    existing = _existing(layout, read, target, unusable)
    final = existing or _new_file(layout, target, config.tests.directory)
    suite = _fresh(layout, final) if existing else final
    return Placement(suite, final, existing is not None, _examples(layout, read, target, final))


# ---------------------------------------------------------------- an existing file


def _existing(layout: TestLayout, read: Read, target: Target, unusable: Collection[str]) -> str | None:
    """Return the test file that is about the target, by its name and by what it imports."""
    best: tuple[tuple[int, int, int], str] | None = None
    for path in layout.tests:
        if path == target.path or path in unusable:
            continue
        named = stem_of(path) in names_for(target)
        if not named and len(layout.sources) > 60 and not _near(path, target):
            continue  # a large repository: only names and neighbours are looked at
        own, others = imports(layout, text_of(read, path), target)
        if named and own:
            score = (3 if own > 1 else 2, _closeness(path, target), -len(path))
        elif own > 1 and not others and not _about_another(layout, path):
            score = (1, _closeness(path, target), -len(path))
        else:
            continue
        if best is None or score > best[0]:
            best = (score, path)
    return best[1] if best else None


def _closeness(path: str, target: Target) -> int:
    """Return how many directories of the target's path the test's path shares, in any place."""
    return len(set(PurePosixPath(path).parts[:-1]) & set(PurePosixPath(target.path).parts[:-1]))


def _near(path: str, target: Target) -> bool:
    own = PurePosixPath(target.path).parent.name
    return own in PurePosixPath(path).parts or own in stem_of(path)


def _about_another(layout: TestLayout, path: str) -> bool:
    """Whether a test file is named after a source file (another one than the target, whose names were looked at)."""
    return any(PurePosixPath(source).stem.strip("_") == stem_of(path) for source in layout.sources)


# ---------------------------------------------------------------- a new file


def _new_file(layout: TestLayout, target: Target, directory: str | None) -> str:
    """Return the path of a new file, in a directory that exists wherever the repository has tests already."""
    place = _directory(layout, target, directory)
    names = [_named(layout, name) for name in names_for(target)]
    for name in [
        *names,
        *(_named(layout, f"{names_for(target)[0]}_{word}") for word in ("module", "unit", "behaviour")),
    ]:
        path = str(PurePosixPath(place) / name) if place else name
        if path not in layout.files and not _collides(layout, path):
            return path
    return _fresh(layout, str(PurePosixPath(place) / names[0]))


def _directory(layout: TestLayout, target: Target, directory: str | None) -> str:
    if directory and directory.strip("/."):
        return _mirrored(layout, directory.strip("/"), target)
    pairs = [(test, source) for test in layout.tests for source in _sources_of(layout, test)]
    if pairs:
        styles = Counter(_relation(test, source) for test, source in pairs)
        # The closest sources decide; among them the most frequent layout.
        (kind, root), _ = max(styles.items(), key=lambda item: (_weight(item, pairs, target), item[0]))
        if kind == "beside":
            return str(PurePosixPath(target.path).parent / root) if root else parent_of(target.path)
        return _mirrored(layout, root, target) if kind == "mirrored" else root
    roots = Counter(parent_of(test) for test in layout.tests)
    if roots:
        return min(roots, key=lambda place: (place.count("/"), -roots[place], place))
    for place in (*layout.testpaths, *TEST_DIRECTORIES):
        if any(path.startswith(f"{place}/") for path in layout.files):
            return place
    return layout.testpaths[0] if layout.testpaths else "tests"


def _sources_of(layout: TestLayout, test: str) -> list[str]:
    stem = stem_of(test)
    return [source for source in layout.sources if PurePosixPath(source).stem.strip("_") == stem]


def _relation(test: str, source: str) -> tuple[str, str]:
    """Return how a test lies to its source: beside it (and in which directory), in a mirrored tree, or flat."""
    at, of = PurePosixPath(test).parent, PurePosixPath(source).parent
    if at == of:
        return "beside", ""
    if at.parent == of and str(of) != ".":
        return "beside", at.name
    inner = of.parts
    for skip in range(len(inner)):
        tail = inner[skip:]
        if len(at.parts) > len(tail) and at.parts[-len(tail) :] == tail:
            return "mirrored", "/".join(at.parts[: -len(tail)])
    return "flat", plain(at)


def _weight(
    item: tuple[tuple[str, str], int], pairs: Sequence[tuple[str, str]], target: Target
) -> tuple[int, int]:
    """Return how near the sources are that a layout was seen at, and how many there are."""
    style, number = item
    own = PurePosixPath(target.path).parent
    near = max(
        len([1 for a, b in zip(PurePosixPath(source).parent.parts, own.parts, strict=False) if a == b])
        for test, source in pairs
        if _relation(test, source) == style
    )
    return near, number


def _mirrored(layout: TestLayout, root: str, target: Target) -> str:
    """Return the directory below `root` that mirrors the target's, as deep as it exists."""
    inner = PurePosixPath(target.path).parent.parts
    existing = {parent_of(path) for path in layout.files}
    for tail in [inner[skip:] for skip in range(len(inner))]:
        for depth in range(len(tail), 0, -1):
            place = "/".join([root, *tail[:depth]]) if root else "/".join(tail[:depth])
            if place in existing and any(parent_of(test).startswith(place) for test in layout.tests):
                return place
    return root


def _named(layout: TestLayout, name: str) -> str:
    """Return a test file's name in the way the repository names them."""
    after = sum(PurePosixPath(path).stem.endswith("_test") for path in layout.tests)
    before = sum(PurePosixPath(path).stem.startswith("test_") for path in layout.tests)
    preferred = ["{}_test.py", "test_{}.py"] if after > before else ["test_{}.py", "{}_test.py"]
    for form in preferred:
        if any(fnmatch.fnmatch(form.format(name), pattern) for pattern in layout.patterns):
            return form.format(name)
    plain = [pattern for pattern in layout.patterns if "/" not in pattern and pattern.count("*") == 1]
    return plain[0].replace("*", name) if plain else preferred[0].format(name)


def _collides(layout: TestLayout, path: str) -> bool:
    """Whether another test file without a package of its own has the same name: pytest could import only one."""
    if layout.importlib or f"{parent_of(path)}/__init__.py".lstrip("/") in layout.files:
        return False
    name = PurePosixPath(path).name
    return any(
        PurePosixPath(other).name == name
        and f"{parent_of(other)}/__init__.py".lstrip("/") not in layout.files
        for other in layout.files
    )


def _fresh(layout: TestLayout, final: str) -> str:
    """Return a path next to a file, collected like it, that no file has."""
    stem = stem_of(final)
    for word in ("added", "further", "additional", *(f"added_{number}" for number in range(2, 100))):
        path = str(PurePosixPath(final).with_name(_named(layout, f"{stem}_{word}")))
        if path not in layout.files and not _collides(layout, path):
            return path
    return str(PurePosixPath(final).with_name(_named(layout, f"{stem}_testforge")))


def _examples(layout: TestLayout, read: Read, target: Target, final: str) -> tuple[str, ...]:
    """Return the nearest existing tests: the file to extend, then its neighbours by directory and imports."""
    others = [path for path in layout.tests if path not in (final, target.path)]
    others.sort(key=lambda path: (parent_of(path) != parent_of(final), -_closeness(path, target), path))
    near = [path for path in others[:12] if "def test" in text_of(read, path)]
    near.sort(key=lambda path: -min(imports(layout, text_of(read, path), target)[0], 1))
    return tuple(([final] if final in layout.files else []) + near)[:_EXAMPLES]
