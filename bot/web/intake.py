"""Storing deliveries: by one thread, and all that have come meanwhile at once, since each commit waits for the disk."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from bot.github.wishes import Wish
from bot.jobs.engine import Receipt

MOST_AT_ONCE = 100


class Intake:
    """Puts wishes into the database.

    Args:
        submit: Stores wishes in one transaction.
    """

    def __init__(self, submit: Callable[[Sequence[Wish]], list[Receipt]]) -> None:
        self._submit = submit
        self._waiting: deque[tuple[Wish, asyncio.Future[Receipt]]] = deque()
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="testforge-intake")
        self._work: asyncio.Task[None] | None = None

    async def put(self, wish: Wish) -> Receipt:
        """Return once a wish is in the database. Raises what storing it raises."""
        future: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
        self._waiting.append((wish, future))
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._store())
        return await future

    async def close(self) -> None:
        """Wait until nothing is being stored."""
        if self._work is not None:
            await self._work
        self._writer.shutdown()

    async def _store(self) -> None:
        """Store what waits until nothing does."""
        loop = asyncio.get_running_loop()
        while self._waiting:
            batch = [self._waiting.popleft() for _ in range(min(MOST_AT_ONCE, len(self._waiting)))]
            wishes = [wish for wish, _ in batch]
            receipts = await loop.run_in_executor(self._writer, self._stored, wishes)
            for (_, future), receipt in zip(batch, receipts, strict=True):
                if future.done():  # who asked may have gone
                    continue
                if isinstance(receipt, Exception):
                    future.set_exception(receipt)
                else:
                    future.set_result(receipt)

    def _stored(self, wishes: Sequence[Wish]) -> Sequence[Receipt | Exception]:
        """Store wishes at once; where that fails, one by one, so that none costs the others their place."""
        try:
            return self._submit(wishes)
        except Exception as error:
            if len(wishes) == 1:
                return [error]
            return [receipt for wish in wishes for receipt in self._stored([wish])]
