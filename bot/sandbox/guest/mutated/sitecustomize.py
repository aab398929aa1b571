"""Puts a mutant in place in the Python processes that a test starts; `TESTFORGE_MUTANT` names the file that holds it."""

import importlib.machinery
import importlib.util
import json
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
_loading = os.path.join(os.path.dirname(_here), "loading.py")
_mutant = os.environ.get("TESTFORGE_MUTANT", "")
if os.path.exists(_mutant):
    _spec = importlib.util.spec_from_file_location("testforge_loading", _loading)
    if _spec is not None and _spec.loader is not None:
        _module = importlib.util.module_from_spec(_spec)
        _spec.loader.exec_module(_module)
        with open(_mutant, encoding="utf-8") as _file:
            _module.replace_source(**json.load(_file))

# An environment may have a sitecustomize of its own, further along the path, which this one hides: it runs too.
_places = [os.path.abspath(_place) for _place in sys.path]
_rest = sys.path[_places.index(_here) + 1 :] if _here in _places else []
_spec = importlib.machinery.PathFinder.find_spec("sitecustomize", _rest)
if _spec is not None and _spec.loader is not None:
    _spec.loader.exec_module(importlib.util.module_from_spec(_spec))
