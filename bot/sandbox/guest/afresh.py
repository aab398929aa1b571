"""A child of the mutation engine in a new Python: the mutant is in place before pytest, which may import the target."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

from .loading import replace_source


def main(job: dict[str, Any]) -> int:
    """Run tests against a mutant and end this process.

    Args:
        job: `tree`, `scratch`, `path`, `source` (with the mutant) and `tests` as the engine's job has them; `fresh`,
            the fields of a `trial.Trial`.
    """
    sys.dont_write_bytecode = False
    sys.pycache_prefix = os.path.join(job["scratch"], "engine-bytecode")
    replace_source(job["path"], job["source"])
    engine = importlib.import_module(f"{__package__}.engine")
    # Once more, for pytest's own loader, which is there only now.
    replace_source(job["path"], job["source"])
    return int(engine.run_afresh(job))
