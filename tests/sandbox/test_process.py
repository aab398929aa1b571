from __future__ import annotations

import sys
from collections.abc import Callable

from bot.sandbox import Sandbox


def test_a_command_runs_in_the_copy_of_the_tree(open_box: Callable[..., Sandbox]) -> None:
    box = open_box({"pkg/mod.py": "X = 7\n"})

    done = box.run(
        ["python", "-c", "import pkg.mod, os, sys; print(pkg.mod.X, os.getcwd(), sys.prefix)"], timeout_s=20
    )

    assert (done.exit_code, done.stdout, done.stderr) == (0, f"7 {box.tree} {sys.prefix}\n", "")
