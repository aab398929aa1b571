"""The repository of somebody who reads the documentation: a branch `change` has a function more than `main`."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

SOURCE = '''\
def total(prices: list[int]) -> int:
    """Return the sum of prices."""
    return sum(prices)
'''
CHANGE = '''

def capped(price: int, most: int) -> int:
    """Return a price, or the most that it may be."""
    if price > most:
        return most
    return price
'''
TEST = """\
from shop.prices import total


def test_total():
    assert total([1, 2]) == 3
"""
FILES = {
    "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["src"]\n',
    "src/shop/__init__.py": "",
    "src/shop/prices.py": SOURCE,
    "tests/test_prices.py": TEST,
}
AUTHOR = {
    "GIT_CONFIG_COUNT": "2",
    "GIT_CONFIG_KEY_0": "user.name",
    "GIT_CONFIG_VALUE_0": "Ada",
    "GIT_CONFIG_KEY_1": "user.email",
    "GIT_CONFIG_VALUE_1": "ada@example.org",
}


def make(
    root: Path, remote: Path, environment: Mapping[str, str], more: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Make it in a directory, with `more` files, on the branch `change`, with a remote that has neither branch yet."""
    for name, text in {**FILES, **more}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)

    def git(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=root, check=True, env={**environment, **AUTHOR})

    git("init", "-q", "-b", "main")
    git("add", ".")
    git("commit", "-qm", "base")
    git("switch", "-qc", "change")
    with (root / "src/shop/prices.py").open("a") as file:
        file.write(CHANGE)
    git("commit", "-qam", "change")
    if not remote.exists():
        git("init", "-q", "--bare", str(remote))
    git("remote", "add", "origin", str(remote))
