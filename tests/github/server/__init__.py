"""The tests' GitHub: stateful, on a real socket, strict by GitHub's own descriptions, with real git behind it.

    with GitHub(tmp_path) as github:
        installation = github.world.install()
        github.world.add_repository("octo/parcels", {...}, installation=installation)

`python -m tests.github.server --port 0 DIRECTORY` is the same as a process of its own.
"""

from tests.github.server.npm import UnavailableError
from tests.github.server.service import GitHub

__all__ = ["GitHub", "UnavailableError"]
