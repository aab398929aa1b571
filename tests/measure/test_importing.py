"""Whether a test can import a file, and the sentence for each way in which it cannot."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bot.domain import Target
from bot.measure.importing import import_problem
from bot.sandbox import Sandbox

OpenBox = Callable[..., Sandbox]
TEST = "tests/test_mod.py"


def problem(open_box: OpenBox, source: str, **files: str) -> str:
    box = open_box({"mod.py": source, **{name.replace("__", "."): text for name, text in files.items()}})
    found = import_problem(box, Target("mod.py", "mod", source, frozenset()), TEST)
    assert TEST not in box.files()
    return found


def test_a_file_that_imports_has_no_problem(open_box: OpenBox) -> None:
    assert problem(open_box, "A = 1\n") == ""


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import nowhere_at_all\n", "ModuleNotFoundError: No module named 'nowhere_at_all'. If it is a dep"),
        ("raise RuntimeError('no!')\n", "RuntimeError: no! Until it can be imported"),
        ("import sys\nsys.exit(4)\n", "SystemExit: 4. Until"),
        ("import os\nos._exit(4)\n", "exited the interpreter: the process exited with code 4. Until"),
    ],
    ids=["missing", "raises", "exits", "exits at once"],
)
def test_a_file_that_does_not_import_is_told_with_the_reason(
    open_box: OpenBox, source: str, said: str
) -> None:
    assert problem(open_box, source).startswith(f"mod.py cannot be imported: {said}")


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"conftest__py": "import nowhere_at_all\n"}, "conftest.py: ModuleNotFoundError: No module named"),
        ({"pytest__ini": "[pytest]\naddopts = --nope\n"}, "unrecognized arguments: --nope. Mend that"),
        ({"pytest__ini": "garbage\n"}, "pytest.ini:1: unexpected line: 'garbage'. Mend that first."),
    ],
    ids=["conftest", "option", "ini"],
)
def test_a_pytest_that_does_not_start_is_told_with_the_reason(
    open_box: OpenBox, files: dict[str, str], said: str
) -> None:
    found = problem(open_box, "A = 1\n", **files)
    assert found.startswith(f"pytest does not start in this repository: {said}")


def test_a_conftest_that_makes_the_import_possible_is_obeyed(open_box: OpenBox) -> None:
    conftest = "import sys\nsys.path.insert(0, 'vendored')\n"
    source = "import inside\n"
    box = open_box({"mod.py": source, "conftest.py": conftest, "vendored/inside.py": ""})
    assert import_problem(box, Target("mod.py", "mod", source, frozenset()), TEST) == ""
