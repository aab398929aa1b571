"""Runs tests: `python run.py JOB.json`. See `supervisor.py` for the job and the journal it leaves."""

import os
import runpy

if __name__ == "__main__":
    boot = runpy.run_path(os.path.join(os.path.dirname(os.path.abspath(__file__)), "boot.py"))
    boot["start"]("supervisor")
