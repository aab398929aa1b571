"""The three ways in, timed as somebody new walks them: what the documentation says is typed, and nothing else."""
