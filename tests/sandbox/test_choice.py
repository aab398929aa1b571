from __future__ import annotations

import pytest

from bot.errors import UsageError
from bot.sandbox.choice import choose


@pytest.mark.parametrize("kind", ["auto", "process"])
def test_the_process_sandbox_is_chosen(kind: str) -> None:
    assert choose(kind).kind == "process"


def test_docker_is_not_built_in_yet() -> None:
    with pytest.raises(UsageError, match="not built in yet"):
        choose("docker")


def test_an_unknown_kind_names_those_there_are() -> None:
    with pytest.raises(UsageError, match="`auto`, `process` or `docker`"):
        choose("vm")
