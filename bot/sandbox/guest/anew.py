"""Runs one child's tests in a new Python: `python anew.py JOB.json`. See `afresh.py` for the job."""

import os
import runpy

if __name__ == "__main__":
    boot = runpy.run_path(os.path.join(os.path.dirname(os.path.abspath(__file__)), "boot.py"))
    boot["start"]("afresh")
