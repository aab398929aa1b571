"""The process in which the tests run: coverage first, then pytest, then an end that nothing can delay."""

from __future__ import annotations

import importlib
import os
from typing import Any

from .journal import Journal


def main(job: dict[str, Any]) -> int:
    """Run the tests of a job.

    Args:
        job: As `supervisor.main` takes it; `done` are node ids that need not or must not run, `ignored` test files that
            must not be imported, `results` is where to post.

    Returns:
        An exit code, which is of no consequence.
    """
    journal = Journal(job["results"])
    try:
        return _run(job, journal)
    except BaseException as error:
        journal.write("problem", message=f"pytest failed: {type(error).__name__}: {error}")
        return 70


def _run(job: dict[str, Any], journal: Journal) -> int:
    tree = os.path.realpath(job["tree"])
    tracer = None
    if job["cover"]:
        # Before pytest is imported: the file to trace may be a library that pytest itself uses.
        tracing = importlib.import_module(f"{__package__}.tracing")
        tracer = tracing.Tracer(tree, [*job["cover"], job["phantom"]])
        for file in tracer.files:
            journal.write(
                "file",
                path=file.path,
                statements=sorted(file.statements),
                branches=sorted(file.branches),
                top=sorted(file.top),
            )
    session = importlib.import_module(f"{__package__}.session")
    plugin = importlib.import_module(f"{__package__}.plugin")
    asked = session.SessionJob(
        tree=tree,
        scratch=job["scratch"],
        selection=job["selection"],
        without=frozenset(job["done"]),
        ignore=frozenset(job["ignored"]),
        order_seed=job["order_seed"],
    )
    takeover = session.Takeover(asked)
    recorder = plugin.Recorder(journal, takeover, tree, tracer)
    plugins = [recorder, recorder.canaries]
    if job.get("elsewhere"):
        plugins.append(importlib.import_module(f"{__package__}.elsewhere").Elsewhere())
    code = session.run(asked, takeover, plugins=plugins)
    if takeover.problem:
        journal.write("problem", message=f"pytest could not start: {takeover.problem}")
    journal.flush()
    return int(code)
