"""Tools that run commands, and the one that ends the work."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bot.agent import observations
from bot.agent.tools.schema import Finished, ToolError

if TYPE_CHECKING:
    from bot.agent.workbench import Workbench

LONGEST_S = 600
COMMAND_BYTES = 1024 * 1024


def execute_bash(bench: Workbench, command: str, timeout_s: int = 60) -> str:
    """Run a command with bash in the repository's root, in the sandbox: no network, nothing to type into it. `python` is the interpreter that runs the tests.

    Args:
        command: What to run; several lines are allowed.
        timeout_s: Seconds after which it is killed.
    """
    if re.fullmatch(r"exit(\s+\d+)?\s*;?", command.strip()):
        raise Finished("exit")
    if not 1 <= timeout_s <= LONGEST_S:
        raise ToolError(f"`timeout_s` is {timeout_s}; it can be 1 to {LONGEST_S} seconds")
    script = command.encode("utf-8", "replace")
    if len(script) > COMMAND_BYTES:
        raise ToolError(f"the command is {len(script)} bytes long; at most {COMMAND_BYTES} can be run")
    path = f"{bench.box.scratch}/command.sh"
    bench.box.write(path, script)
    completed = bench.box.run(["bash", path], timeout_s=timeout_s)
    printed = observations.command(completed, timeout_s)
    if bench.absorb_command():
        printed += (
            f"\nnote: the command changed {bench.target.path}; it has been put back, as only tests can change"
        )
    return printed


def finish(_bench: Workbench, summary: str) -> str:
    """End the work: the suite is as good as it can be made.

    Args:
        summary: What the suite tests now, in one line.
    """
    raise Finished(summary)
