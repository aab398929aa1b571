"""The server's image. Its tests run where TESTFORGE_IMAGE names one that was built: `.ci/image.sh` builds it and runs them.

TESTFORGE_IMAGE           the image of the server
TESTFORGE_IMAGE_POSTGRES  an image with Postgres, for the composition
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.github.server import GitHub
from tests.jobs.serving import github_in

collect_ignore_glob = [] if os.environ.get("TESTFORGE_IMAGE") else ["test_*.py"]


@pytest.fixture
def github(tmp_path: Path) -> Iterator[GitHub]:
    """The tests' GitHub with octo/parcels and its pull request 1."""
    with github_in(tmp_path) as server:
        yield server
