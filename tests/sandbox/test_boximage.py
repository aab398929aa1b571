"""The layers with testforge's own files: those that are used stay, the others go."""

from __future__ import annotations

import contextlib
import io
import os
import secrets
import sys
import tarfile
from collections.abc import Iterator

import dockers
import pytest

from bot.sandbox import boximage
from bot.sandbox.docker import DockerSandbox

DAY_S = 24 * 3600.0


@pytest.fixture
def layer() -> Iterator[str]:
    """An image that looks like a layer of testforge's."""
    opened = dockers.opened("runc")
    name = f"testforge-box:{secrets.token_hex(8)}"
    empty = io.BytesIO()
    tarfile.open(fileobj=empty, mode="w").close()
    with contextlib.closing(opened.engine.client()) as client:
        repository, _, tag = name.partition(":")
        client.import_image_from_data(
            empty.getvalue(), repository=repository, tag=tag, changes=["LABEL testforge.image=box"]
        )
        yield name
        if client.images(name=name):
            client.remove_image(name)
    boximage._record(name).unlink(missing_ok=True)


def removed() -> tuple[str, ...]:
    with contextlib.closing(dockers.opened("runc").engine.client()) as client:
        return boximage.remove_unused(client)


def test_a_layer_that_was_used_today_stays(layer: str) -> None:
    boximage._record(layer).touch()

    assert layer not in removed()


def test_a_layer_that_nobody_used_for_a_day_is_removed(layer: str) -> None:
    record = boximage._record(layer)
    record.touch()
    then = record.stat().st_mtime - DAY_S - 60
    os.utime(record, (then, then))

    assert layer in removed()
    assert not record.exists()


def test_a_layer_that_another_user_has_just_made_stays(layer: str) -> None:
    assert layer not in removed()


def test_the_guest_is_there_compiled_for_the_python_that_runs_here(container: DockerSandbox) -> None:
    program = (
        "import sys, importlib.util; sys.path.insert(0, '/opt/testforge');"
        "import guest.seal, os; print(sys.implementation.cache_tag, os.path.exists(guest.seal.__cached__))"
    )

    done = container.run(["python", "-c", program], timeout_s=20)

    tag, there = done.stdout.split()
    assert there == str(tag == sys.implementation.cache_tag)
