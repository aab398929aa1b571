"""Keeps the results of a job: `python -I -S keep.py PROGRAM JOB.json`, the key on standard input. See `clerk.py`."""

import os
import runpy
import sys

if __name__ == "__main__":
    boot = runpy.run_path(os.path.join(os.path.dirname(os.path.abspath(__file__)), "boot.py"))
    boot["start"]("supervisor" if sys.argv.pop(1) == "run" else "clerk")
