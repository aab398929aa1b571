"""Runs programs on inputs: `python grid.py JOB.json`. See `matrix.py` for the job and the lines it writes."""

import os
import runpy

if __name__ == "__main__":
    boot = runpy.run_path(os.path.join(os.path.dirname(os.path.abspath(__file__)), "boot.py"))
    boot["start"]("matrix")
