"""Mutants are judged by the Python of the repository, whichever it is: here the oldest and the newest that this machine has."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.domain import MutantOutcome, Target
from bot.measure.mutants import generate
from bot.measure.mutation import judge
from bot.measure.outcomes import run_tests
from bot.sandbox import Interpreter
from bot.sandbox.process import ProcessSandboxes
from tests.conftest import write_tree

KILLED, SURVIVED = MutantOutcome.KILLED, MutantOutcome.SURVIVED
_SUPPORTED = range(11, 14)  # older ones need more than the files of pytest that the running Python has

FILES = {
    "mod.py": "import os.path\nfrom dataclasses import dataclass\n\nLIMIT = 4\n\n\n@dataclass\nclass Point:\n    x: int = 1\n\n\n"
    "def join(a, b=2):\n    return os.path.join(str(a), str(b + 3))\n\n\ndef idle(x):\n    return x + 5\n",
    "test_mod.py": "from mod import *\n\n\ndef test_all():\n    assert (join(1), Point().x, LIMIT) == ('1/5', 1, 4)\n",
}


def _pythons() -> Iterator[Path]:
    """Yield the interpreters of this machine, one of each version, the running one among them."""
    found = {sys.version_info[1]: Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info[1]}"}
    for minor in _SUPPORTED:
        places = [*Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python3.{minor}")]
        on_path = shutil.which(f"python3.{minor}")
        if on_path and "shims" not in on_path:
            places.append(Path(on_path))
        if places and minor not in found:
            found[minor] = places[0]
    yield from (found[minor] for minor in sorted({min(found), max(found)}))


@pytest.mark.parametrize("python", [*_pythons()], ids=lambda path: re.sub(r"\D*", "", path.name))
def test_mutants_are_judged_under_the_repositorys_python(
    python: Path, interpreter: Interpreter, tmp_path: Path
) -> None:
    packages = next(Path(interpreter.command).parent.parent.glob("lib/python*/site-packages"))
    its = Interpreter(
        command=str(python),
        version=python.name.removeprefix("python"),
        extra_path=(str(packages),),
        mounts=(python.parent.parent, *interpreter.mounts),
        key="other",
    )
    target = Target("mod.py", "mod", FILES["mod.py"], frozenset(), whole_file=True)
    with ProcessSandboxes().open(write_tree(tmp_path / "tree", FILES), its) as box:
        run = run_tests(box, cover=["mod.py"])
        assert run.passed == ("test_mod.py::test_all",), run
        mutants = generate("mod.py", target.source)
        chosen = [m for m in mutants.mutants if "Number" in m.operator]
        result = judge(box, target, type(mutants)("mod.py", tuple(chosen), len(chosen)), run)
    found = {(verdict.mutant.first, verdict.outcome) for verdict in result.verdicts}
    assert found == {(4, KILLED), (9, KILLED), (12, KILLED), (13, KILLED), (17, SURVIVED)}
    assert result.notes == ()
