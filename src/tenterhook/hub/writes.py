"""Writes that arrive at the same time share a transaction: a commit waits for the disk, however much is in it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from starlette.concurrency import run_in_threadpool

from .database import DatabaseUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .database import Connection, Database

G = TypeVar("G")
D = TypeVar("D")
_MOST = 200  # writes in one transaction


class _Write(NamedTuple):
    work: Callable[[Connection, Sequence[Any]], Sequence[Any]]
    given: Any
    done: asyncio.Future[Any]


class Writes:
    """A queue: writes that arrive during a transaction are done together in the next one."""

    def __init__(self, database: Database, *, lasting: bool = True) -> None:
        self._database = database
        self._lasting = lasting
        self._waiting: list[_Write] = []
        self._task: asyncio.Task[None] | None = None

    async def do(self, work: Callable[[Connection, Sequence[G]], Sequence[D | Exception]], given: G) -> D:
        """Call a function with everything queued for it; return its result for this item, or raise it.

        It returns a result, or an exception, for each item, and must have no effect outside the database.
        """
        done: asyncio.Future[D] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Write(work, given, done))
        if self._task is None:
            self._task = asyncio.create_task(self._run())
        return await done

    async def _run(self) -> None:
        try:
            while self._waiting:
                taken, self._waiting = self._waiting[:_MOST], self._waiting[_MOST:]
                await self._write(taken)
        finally:
            self._task = None

    async def _write(self, taken: list[_Write]) -> None:
        results: Sequence[Any]
        try:
            results = await run_in_threadpool(
                self._database.write, lambda connection: _together(connection, taken), lasting=self._lasting
            )
        except DatabaseUnavailable:
            results = [DatabaseUnavailable() for _ in taken]
        except Exception as error:  # noqa: BLE001  # raised where the result is awaited
            if len(taken) > 1:  # one of them fails, which must not fail the others
                for each in taken:
                    await self._write([each])
                return
            results = [error]
        for each, result in zip(taken, results, strict=True):
            if each.done.done():  # nobody waits for it any more
                continue
            if isinstance(result, Exception):
                each.done.set_exception(result)
            else:
                each.done.set_result(result)


def _together(connection: Connection, taken: list[_Write]) -> list[Any]:
    places: dict[Callable[[Connection, Sequence[Any]], Sequence[Any]], list[int]] = {}
    for place, each in enumerate(taken):
        places.setdefault(each.work, []).append(place)
    results: list[Any] = [None] * len(taken)
    for work in sorted(places, key=lambda work: work.__qualname__):  # the same order at every hub: no deadlock
        given = [taken[place].given for place in places[work]]
        for place, result in zip(places[work], work(connection, given), strict=True):
            results[place] = result
    return results
