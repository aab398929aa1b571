"""Durable runs on DBOS: what a webhook asks for is done once, also when processes die in the middle of it.

A delivery becomes a row in the database before it is answered. A worker takes it from there, starts the pipeline in a
process of its own (`child.py`), and posts what comes out. Each step's end is written down; a step that was interrupted
is done again, and is written such that this makes no difference.
"""
