"""Runs tests, for the supervisor: `python run.py JOB.json`. See `worker.py`."""

import os
import runpy

if __name__ == "__main__":
    boot = runpy.run_path(os.path.join(os.path.dirname(os.path.abspath(__file__)), "boot.py"))
    boot["start"]("worker")
