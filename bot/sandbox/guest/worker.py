"""The process in which the tests run: coverage first, then pytest, then an end that nothing can delay."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Collection
from typing import Any

from .journal import Journal


def work(job: dict[str, Any], without: Collection[str], ignore: Collection[str]) -> None:
    """Run the tests of a job in this process, which ends here: threads and exit handlers do not keep it.

    Args:
        job: As `supervisor.main` takes it.
        without: Node ids that need not or must not run.
        ignore: Test files that must not be imported.
    """
    journal = Journal(job["results"])
    code = 70
    try:
        code = _run(job, without, ignore, journal)
    except BaseException as error:
        journal.write("problem", message=f"pytest failed: {type(error).__name__}: {error}")
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            # A test has closed it.
            continue
    os._exit(code)


def _run(job: dict[str, Any], without: Collection[str], ignore: Collection[str], journal: Journal) -> int:
    tree = os.path.realpath(job["tree"])
    tracer = None
    if job["cover"]:
        # Before pytest is imported: the file to trace may be a library that pytest itself uses.
        tracing = importlib.import_module(f"{__package__}.tracing")
        tracer = tracing.Tracer(tree, job["cover"])
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
        without=frozenset(without),
        ignore=frozenset(ignore),
        order_seed=job["order_seed"],
    )
    takeover = session.Takeover(asked)
    recorder = plugin.Recorder(journal, takeover, tree, tracer)
    code = session.run(asked, takeover, plugins=[recorder])
    if takeover.problem:
        journal.write("problem", message=f"pytest could not start: {takeover.problem}")
    return int(code)
