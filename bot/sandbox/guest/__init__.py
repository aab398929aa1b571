"""What runs inside a sandbox: standard library, pytest and coverage only, on Python 3.9 and later.

The directory is mounted into sandboxes by itself, so its modules import each other relatively, and the scripts
in it load it under a name of their own (see `run.py`): a repository may have modules called `session` or `plugin`.
"""
