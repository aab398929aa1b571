"""Training data made of a function: tests that hold on it and reject wrong versions of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from bot.models import Reply
from bot.programs.functions import find
from bot.scaling.distil import Example, Refusal, distil
from bot.scaling.licence import licence_of

CLIP = '''def clip(value: int, most: int = 10) -> int:
    """Return the value, or `most` where it is larger."""
    if value > most:
        return most
    return value
'''


class Prepared:
    """A model that gives its replies in turn, for ever."""

    name = "prepared"

    def __init__(self, *texts: str) -> None:
        self._texts, self._given = texts, 0

    def complete(self, messages: Sequence[object], tools: Sequence[object] = ()) -> Reply:
        self._given += 1
        return Reply(self._texts[(self._given - 1) % len(self._texts)])


@pytest.fixture
def box(open_box):
    return open_box({"clips.py": CLIP})


def test_without_a_model_values_are_tried_and_slight_changes_rejected(box):
    found = distil(box, find(CLIP, "clip"), "clips", None)
    assert isinstance(found, Example)
    assert found.wrong > 5
    assert found.caught == found.wrong
    assert 1 <= found.assertions <= 6
    assert found.tests.startswith(("import pytest\n\nfrom clips import clip\n", "from clips import clip\n"))
    namespace: dict[str, object] = {}
    exec(compile(found.tests.replace("from clips import clip", CLIP), "test", "exec"), namespace)


def test_a_value_that_the_code_contradicts_is_repaired_with_what_it_gave(box):
    model = Prepared(
        "def clip(value, most=10):\n    return most", "assert clip(3) == 4\nassert clip(12) == 10"
    )
    found = distil(box, find(CLIP, "clip"), "clips", model, samples=1)
    assert isinstance(found, Example)
    assert found.repaired == 1
    assert "(3, 3)" in found.tests


def test_tests_that_accept_wrong_code_are_refused(box):
    model = Prepared("nothing", "assert isinstance(clip(3), int)")
    found = distil(box, find(CLIP, "clip"), "clips", model, samples=1)
    assert isinstance(found, Refusal)
    assert "accept wrong code" in found.reason


def test_a_model_that_writes_no_test_is_told(box):
    found = distil(box, find(CLIP, "clip"), "clips", Prepared("no", "no"), samples=1)
    assert found == Refusal("clip", "no test was written that calls it")


def test_one_seed_gives_one_example(box):
    first, second = (distil(box, find(CLIP, "clip"), "clips", None, seed=3) for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    ("files", "licence"),
    [
        ({"LICENSE": "Permission is hereby granted, free of charge, to any person obtaining a copy"}, "MIT"),
        ({"LICENCE.txt": "Apache License\nVersion 2.0, January 2004"}, "Apache-2.0"),
        ({"COPYING": "GNU GENERAL PUBLIC LICENSE\n  Version 3, 29 June 2007"}, "GPL-3.0"),
        (
            {
                "pyproject.toml": "[project]\nlicense = 'BSD-3-Clause'\n",
                "LICENSE": "Apache License, Version 2.0",
            },
            "BSD-3-Clause",
        ),
        ({"pyproject.toml": "[project]\nlicense = {text = 'MIT'}\n"}, "MIT"),
        ({"pyproject.toml": "not toml", "LICENSE": "All rights reserved."}, None),
        ({}, None),
    ],
)
def test_the_licence_is_what_the_repository_says(tmp_path: Path, files: dict[str, str], licence: str | None):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert licence_of(tmp_path) == licence
