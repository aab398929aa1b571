"""A GitHub with a pull request, and a database that can be looked into beside the server's back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.github.server import GitHub, UnavailableError
from tests.jobs.serving import github_in


@pytest.fixture
def github(tmp_path: Path) -> Iterator[GitHub]:
    """The tests' GitHub with octo/parcels and its pull request 1."""
    try:
        with github_in(tmp_path) as server:
            yield server
    except UnavailableError as error:
        pytest.skip(str(error))
