"""Puts the overlay (pytest and coverage, where the repository lacks them) at the end of every Python's search path.

Python runs it at start. At the end, so that whatever the repository's own environment has comes first.
"""

# ruff: noqa: PTH100, PTH120

import importlib.machinery
import importlib.util
import os
import sys

for _directory in os.environ.get("TESTFORGE_EXTRA_PATH", "").split(os.pathsep):
    if _directory and _directory not in sys.path:
        sys.path.append(_directory)

# An environment may have a sitecustomize of its own, which this one hides: it runs too.
_here = os.path.dirname(os.path.abspath(__file__))
_spec = importlib.machinery.PathFinder.find_spec(
    "sitecustomize", [p for p in sys.path if os.path.abspath(p) != _here]
)
if _spec is not None and _spec.loader is not None:
    _spec.loader.exec_module(importlib.util.module_from_spec(_spec))
