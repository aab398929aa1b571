"""What code gets from around it: chance, clocks, the environment, the places of files. Here it follows from a number.

So every run of the probe gives the same, and a case whose outcome depends on any of it is found out: under another
number all of it is otherwise.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator
from typing import Any

from .guard import Guard

CHANCE, CLOCK, ENVIRONMENT, PLACE = "chance", "clock", "environment", "place"
_EPOCH = 1_700_000_000
SHIFT_SECONDS = 37 * 86_400 + 12_345
_TICK_SECONDS = 2.0**-10
_CLOCKS = {"time": _EPOCH, "monotonic": 1000, "perf_counter": 2000, "process_time": 10}
_RUNS = {CHANCE: 8, CLOCK: 2, ENVIRONMENT: 2}
"""Under so many other numbers a case is tried that uses this."""


class Ambience:
    """Stands in for what surrounds code; knows what of it was used since the last `begin`.

    Attributes:
        number: What all of it follows from.
        used: Which kinds were used.
        home: Directory of files that code may look for: those that come with it.
    """

    def __init__(self, guard: Guard) -> None:
        self.number = 0
        self.used: set[str] = set()
        self.home = ""
        self._guard = guard
        self._stream: random.Random | None = None
        self._ticks = 0
        self._seeded = False
        self._seed = random.Random.seed

    def begin(self) -> None:
        """Start anew, as if nothing had been used."""
        self.used.clear()
        self._stream = None
        self._ticks = 0
        self._seeded = False

    def others(self) -> range:
        """Return the numbers under which a case has to give the same that used what `used` says."""
        return range(1, 1 + max((_RUNS.get(kind, 0) for kind in self.used), default=0))

    def install(self) -> None:
        """Take the place of what Python offers, for the process's life; before the code under test is imported."""
        self._install_chance()
        for name, start in _CLOCKS.items():
            setattr(time, name, _Stand(getattr(time, name), self._reading(start)))
            setattr(time, f"{name}_ns", _Stand(getattr(time, f"{name}_ns"), self._reading(start, 10**9)))
        for name in ("localtime", "gmtime", "ctime"):
            setattr(time, name, _Stand(getattr(time, name), _at_now(getattr(time, name), time.time)))
        time.strftime, time.asctime = self._formatting(time.strftime, 1), self._formatting(time.asctime, 0)
        self._install_environment()
        for name in ("getcwd", "getcwdb", "stat", "lstat", "access"):
            setattr(os, name, _Stand(getattr(os, name), self._looking(getattr(os, name))))

    # ------------------------------------------------------------ chance

    def _install_chance(self) -> None:
        seed = self._seed

        def seed_anew(self_: random.Random, a: Any = None, version: int = 2) -> None:
            seed(self_, self._drawn().getrandbits(64) if a is None else a, version)

        random.Random.seed = seed_anew  # type: ignore[assignment,method-assign]
        old, shared = random._inst, self._shared()
        for name, value in list(vars(random).items()):
            if getattr(value, "__self__", None) is old:
                setattr(random, name, getattr(shared, name))
        random._inst = shared
        os.urandom = random._urandom = self._bytes  # type: ignore[attr-defined]

    def _drawn(self) -> random.Random:
        self.used.add(CHANCE)
        if self._stream is None:
            self._stream = random.Random(f"chance {self.number}")
        return self._stream

    def _bytes(self, size: int) -> bytes:
        if size < 0:
            raise ValueError("negative argument not allowed")
        return self._drawn().getrandbits(8 * size).to_bytes(size, "little") if size else b""

    def _shared(self) -> random.Random:
        """Return the generator behind the functions of `random`: by chance, unless the code seeds it."""
        around = self

        class Shared(random.Random):
            def seed(self, a: Any = None, version: int = 2) -> None:
                around._seeded = True
                super().seed(a, version)

            def setstate(self, state: Any) -> None:
                around._seeded = True
                super().setstate(state)

            def random(self) -> float:
                around._draw_from(self)
                return super().random()

            def getrandbits(self, k: int) -> int:
                around._draw_from(self)
                return super().getrandbits(k)

        return Shared(0)

    def _draw_from(self, shared: random.Random) -> None:
        if not self._seeded:
            shared.seed()

    # ------------------------------------------------------------ clocks, environment, places

    def _reading(self, start: int, unit: int = 1) -> Callable[[], float]:
        def read() -> float:
            self.used.add(CLOCK)
            self._ticks += 1
            seconds = start + self.number * SHIFT_SECONDS + self._ticks * (1 + self.number) * _TICK_SECONDS
            return seconds if unit == 1 else int(seconds * unit)

        return read

    @staticmethod
    def _formatting(real: Any, place: int) -> _Stand:
        """Return what formats the present where the argument at this place is missing."""
        return _Stand(real, lambda *args: real(*args) if len(args) > place else real(*args, time.localtime()))

    def _install_environment(self) -> None:
        kind = type(os.environ)
        get, walk = kind.__getitem__, kind.__iter__

        def look_up(environ: Any, key: str) -> str:
            if self._is_told(key):
                return "1"
            return get(environ, key)

        def names(environ: Any) -> Iterator[str]:
            return iter(()) if self._is_told("") else walk(environ)

        kind.__getitem__ = look_up  # type: ignore[method-assign]
        kind.__iter__ = names  # type: ignore[method-assign]

    def _is_told(self, key: str) -> bool:
        """Whether every variable is 1, as under every second number; under the others but 0 there is none."""
        if not self._guard.armed:
            return False
        self.used.add(ENVIRONMENT)
        if self.number % 2 and key:
            raise KeyError(key)
        return self.number > 0

    def _looking(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def look(*args: Any, **words: Any) -> Any:
            path = args[0] if args else None
            told = os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else ""
            if (
                self._guard.armed
                and not isinstance(path, int)
                and not (self.home and told.startswith(self.home))
            ):
                self.used.add(PLACE)
            return real(*args, **words)

        return look


class _Stand:
    """Stands for a function written in C: as an attribute of a class it takes no `self` either."""

    def __init__(self, real: Any, function: Callable[..., Any]) -> None:
        self.__name__ = real.__name__
        self.__doc__ = real.__doc__
        self._function = function

    def __call__(self, *args: Any, **words: Any) -> Any:
        return self._function(*args, **words)


def _at_now(real: Callable[..., Any], clock: Callable[[], float]) -> Callable[..., Any]:
    def at(secs: float | None = None) -> Any:
        return real(clock() if secs is None else secs)

    return at
