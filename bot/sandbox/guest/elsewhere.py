"""Another machine, as far as a test can ask: tests that pass here alone say what this machine is, not what the code does."""

from __future__ import annotations

import functools
import os
import platform
import socket
import sys
import sysconfig
from collections.abc import Callable, Iterator
from typing import Any

from .session import hook

PROCESSOR = "riscv64"
RELEASE = "3.2.0-elsewhere"
HOST = "elsewhere"
CORES = 7
LIBRARY = "glibc 2.11"


class Elsewhere:
    """A pytest plugin: while a test itself runs, the machine is another one of the same operating system.

    Imports, fixtures and collection still see the real one, so that nothing is loaded that was built for another
    processor. `sys.platform` stays: code for other systems could not run at all.
    """

    def __init__(self) -> None:
        self._away = False
        for place, name, answer in _answers():
            setattr(place, name, self._asked(getattr(place, name), answer))

    @hook(hookwrapper=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        self._away = True
        yield
        self._away = False

    def _asked(self, real: Callable[..., Any], answer: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that stays in place all the time: what `monkeypatch` puts back is then right as well."""

        @functools.wraps(real)
        def ask(*args: Any, **kwargs: Any) -> Any:
            return (answer if self._away else real)(*args, **kwargs)

        return ask


def _answers() -> list[tuple[Any, str, Callable[..., Any]]]:
    """Return what is replaced: where, under which name, and by what."""
    version = f"{sys.version_info[0]}.{sys.version_info[1]}.97"
    described = f"{platform.system()}-{RELEASE}-{PROCESSOR}"
    found: list[tuple[Any, str, Callable[..., Any]]] = [
        (platform, "uname", _uname(platform.uname)),
        (platform, "platform", lambda *_, **__: described),
        (platform, "libc_ver", lambda *_, **__: tuple(LIBRARY.split())),
        (platform, "python_version", lambda: version),
        (sysconfig, "get_platform", lambda: f"{sys.platform}-{PROCESSOR}"),
        (socket, "gethostname", lambda: HOST),
        (os, "cpu_count", lambda: CORES),
    ]
    if hasattr(os, "uname"):
        system = os.uname()
        other = type(system)((system.sysname, HOST, RELEASE, "#1", PROCESSOR))
        found.append((os, "uname", lambda: other))
    if hasattr(os, "confstr"):
        found.append((os, "confstr", _confstr(os.confstr)))
    if hasattr(os, "sched_getaffinity"):
        found.append((os, "sched_getaffinity", lambda _: set(range(CORES))))
    return found


def _uname(real: Callable[[], Any]) -> Callable[[], Any]:
    found = real()._replace(node=HOST, release=RELEASE, version="#1", machine=PROCESSOR)
    return lambda: found


def _confstr(real: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda name: LIBRARY if name == "CS_GNU_LIBC_VERSION" else real(name)
