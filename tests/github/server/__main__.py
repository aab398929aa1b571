"""The tests' GitHub as a process: prints one line of JSON with its address, then serves until it is stopped."""

from __future__ import annotations

import argparse
import json
import signal
import threading
from pathlib import Path

from tests.github.server.service import GitHub


def main() -> None:
    """Serve."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path, help="where the repositories are kept")
    parser.add_argument("--port", type=int, default=0)
    arguments = parser.parse_args()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    with GitHub(arguments.directory, port=arguments.port) as github:
        print(json.dumps({"url": github.url, "app_id": github.world.app_id}), flush=True)
        stop.wait()


if __name__ == "__main__":
    main()
