"""Starts one of the guest's programs from a script, without leaving a trace that a repository's code could meet.

A script does no more than `runpy.run_path(<boot.py>)["start"]("supervisor")`: the guest's directory must not be on
`sys.path`, and its modules must not take names such as `session` from the repository's own.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import os
import sys
from typing import NoReturn

PACKAGE = "testforge_guest"


def start(program: str) -> NoReturn:
    """Load the guest as a package of its own name and run one program of it.

    Args:
        program: Name of the module whose `main` takes the job, a dict read from the JSON file `sys.argv[1]`.

    Its result is the exit code. This process ends here: what the repository's code has registered to run at exit,
    and threads that it has left, do not keep it.
    """
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    extra = os.environ.get("TESTFORGE_EXTRA_PATH", "").split(os.pathsep)
    # At the end: what the repository's own environment has comes first.
    sys.path.extend(entry for entry in extra if entry and entry not in sys.path)
    spec = importlib.util.spec_from_file_location(
        PACKAGE, os.path.join(here, "__init__.py"), submodule_search_locations=[here]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"the guest's files are not in {here}")
    package = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = package
    spec.loader.exec_module(package)
    with open(sys.argv[1], encoding="utf-8") as file:
        job = json.load(file)
    with contextlib.suppress(OSError):
        os.unlink(sys.argv[1])
    leave = os._exit  # tests replace functions of the standard library
    code = int(importlib.import_module(f"{PACKAGE}.{program}").main(job))
    for stream in (sys.__stdout__, sys.__stderr__):
        with contextlib.suppress(OSError, ValueError):  # closed
            if stream is not None:
                stream.flush()
    leave(code)
