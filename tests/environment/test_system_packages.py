"""Which commands of `environment.setup` install system packages, and that nothing else would run as root."""

from __future__ import annotations

import pytest

from bot.environment.system_packages import Setup, split
from bot.errors import InstallationError


@pytest.mark.parametrize(
    ("setup", "expected"),
    [
        (["apt-get install -y libpq-dev gcc"], Setup(("gcc", "libpq-dev"))),
        (["sudo apt install libxml2=2.9.14+dfsg-1 g++:amd64"], Setup(("g++:amd64", "libxml2=2.9.14+dfsg-1"))),
        (["apt-get update", "apt-get -o Acquire::Retries=3 install make"], Setup(("make",))),
        (
            ["apt-get update && apt-get install -y make && make all && ./x"],
            Setup(("make",), ("make all && ./x",)),
        ),
        (["pip install x && apt-get install y"], Setup((), ("pip install x && apt-get install y",))),
        (["aptitude install x"], Setup((), ("aptitude install x",))),
        ([], Setup()),
    ],
)
def test_packages_are_told_apart_from_commands(setup: list[str], expected: Setup) -> None:
    assert split(setup) == expected


@pytest.mark.parametrize(
    "command",
    [
        "apt-get install -y gcc; id",
        "apt-get install $(id)",
        "apt-get install gcc || true",
        "apt-get install ./local.deb",
        "apt-get remove gcc",
        "apt-get install 'x",
        "apt-get install gcc > log",
    ],
)
def test_what_would_do_more_as_root_is_refused(command: str) -> None:
    with pytest.raises(InstallationError, match="would run as root"):
        split([command])
