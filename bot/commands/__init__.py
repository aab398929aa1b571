"""The commands, one file each; `bot/cli.py` puts them together.

Whatever is heavy is imported where a command needs it, so that `testforge --help` answers at once.
"""
