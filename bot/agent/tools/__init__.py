"""The tools of the refine loop: typed functions over the workbench, one file a group (METHODS 1.4)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from bot.agent.tools.schema import Tool, tool
from bot.models import ToolSchema


@cache
def toolbox() -> Mapping[str, Tool]:
    """Return every tool by name, in the order they are shown to a model."""
    from bot.agent.tools import files, measures, shell

    functions = (
        files.search_files,
        files.view_file,
        files.write_file,
        files.edit_file,
        files.insert_lines,
        measures.run_tests,
        measures.coverage_report,
        measures.surviving_mutants,
        shell.execute_bash,
        shell.finish,
    )
    return {function.__name__: tool(function) for function in functions}


def schemas() -> tuple[ToolSchema, ...]:
    """Return every tool in OpenAI's form."""
    return tuple(each.schema for each in toolbox().values())
