"""The tables, and making them. DBOS keeps its own beside them in the same database."""

from __future__ import annotations

import sqlalchemy as sa

VERSION = 1
"""Of the tables; a later testforge that changes them reads here what it finds."""
MAKING = 7_433_001
"""A number of our own for Postgres's lock around the making of the tables."""

metadata = sa.MetaData()

runs = sa.Table(
    "testforge_runs",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("repository", sa.Text, nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("head", sa.Text, nullable=False, default=""),
    sa.Column("installation", sa.BigInteger, nullable=False),
    sa.Column("delivery", sa.Text, nullable=False),
    sa.Column("actor", sa.Text, nullable=False, default=""),
    sa.Column("event", sa.Text, nullable=False, default=""),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("stage", sa.Text, nullable=False, default=""),
    sa.Column("status", sa.Text, nullable=False, default=""),
    sa.Column("reason", sa.Text, nullable=False, default=""),
    sa.Column("url", sa.Text, nullable=False, default=""),
    sa.Column("check_run", sa.BigInteger, nullable=True),
    sa.Column("cost_usd", sa.Float, nullable=False, default=0.0),
    sa.Column("began", sa.Float, nullable=False),
    sa.Column("ended", sa.Float, nullable=True),
    sa.Column("report", sa.Text, nullable=True),
    sa.Column("review", sa.Text, nullable=True),
    sa.Index("testforge_runs_pull", "repository", "number", "began"),
)
"""Runs of pull requests. `began` and `ended` are seconds since 1970; `report` and `review` are JSON."""

model_calls = sa.Table(
    "testforge_model_calls",
    metadata,
    sa.Column("run", sa.Text, primary_key=True),
    sa.Column("request", sa.Text, primary_key=True),
    sa.Column("occurrence", sa.Integer, primary_key=True),
    sa.Column("reply", sa.Text, nullable=False),
    sa.Column("at", sa.Float, nullable=False),
)
"""Replies that a run has had; the n-th same request gets the n-th reply again."""

tests = sa.Table(
    "testforge_tests",
    metadata,
    sa.Column("repository", sa.Text, primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("behaviour", sa.Text, primary_key=True),
    sa.Column("label", sa.Text, nullable=False),
    sa.Column("test", sa.Text, nullable=False),
    sa.Column("target", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("head", sa.Text, nullable=False, default=""),
    sa.Column("actor", sa.Text, nullable=False, default=""),
    sa.Column("why", sa.Text, nullable=False, default=""),
    sa.Column("at", sa.Float, nullable=False),
)
"""Tests of a pull request over its pushes, known by what they do."""

suites = sa.Table(
    "testforge_suites",
    metadata,
    sa.Column("repository", sa.Text, primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("target", sa.Text, primary_key=True),
    sa.Column("functions", sa.Text, nullable=False),
    sa.Column("content", sa.Text, nullable=False),
    sa.Column("at", sa.Float, nullable=False),
)
"""The suite last proposed for a target, and a hash of the functions it was written for."""

spending = sa.Table(
    "testforge_spending",
    metadata,
    sa.Column("run", sa.Text, primary_key=True),
    sa.Column("repository", sa.Text, nullable=False),
    sa.Column("month", sa.Text, nullable=False),
    sa.Column("usd", sa.Float, nullable=False),
    sa.Index("testforge_spending_month", "repository", "month"),
)
"""What each run has cost, by calendar month in UTC, such as `2026-11`."""

stops = sa.Table(
    "testforge_stops",
    metadata,
    sa.Column("repository", sa.Text, primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("at", sa.Float, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
)
"""Up to when all that was asked of a pull request is not wanted any more. Number 0 stands for the whole repository."""

inquiries = sa.Table(
    "testforge_inquiries",
    metadata,
    sa.Column("repository", sa.Text, primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("path", sa.Text, primary_key=True),
    sa.Column("function", sa.Text, primary_key=True),
    sa.Column("head", sa.Text, nullable=False),
    sa.Column("inquiry", sa.Text, nullable=False),
    sa.Column("questions", sa.Integer, nullable=False),
    sa.Column("at", sa.Float, nullable=False),
)
"""What can be asked about a changed function: candidates and what they gave, as JSON, and the most questions about it."""

questions = sa.Table(
    "testforge_questions",
    metadata,
    sa.Column("repository", sa.Text, primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("key", sa.Integer, primary_key=True),
    sa.Column("path", sa.Text, nullable=False),
    sa.Column("function", sa.Text, nullable=False),
    sa.Column("call", sa.Text, nullable=False),
    sa.Column("predicate", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("actor", sa.Text, nullable=False, default=""),
    sa.Column("asked", sa.Float, nullable=False),
    sa.Column("answered", sa.Float, nullable=True),
)
"""Questions to the author of a pull request, numbered from 1; times are seconds since 1970."""

version = sa.Table("testforge_version", metadata, sa.Column("version", sa.Integer, primary_key=True))


def look(engine: sa.Engine) -> int:
    """Return the version of a database's tables, without making any; 0 where one of them is missing."""
    if not set(metadata.tables) <= set(sa.inspect(engine).get_table_names()):
        return 0
    with engine.connect() as connection:
        return connection.execute(sa.select(version.c.version)).scalar() or 0


def create(engine: sa.Engine) -> None:
    """Make the tables that are missing; several processes may do it at once."""
    with engine.begin() as connection:
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(MAKING)))
        metadata.create_all(connection)
        if connection.execute(sa.select(version.c.version)).first() is None:
            connection.execute(sa.insert(version).values(version=VERSION))
