# SPDX-License-Identifier: MIT
"""Many pictures: some at a time, failures as values, and no more pictures in memory than that takes."""

from __future__ import annotations

import asyncio
import collections
import os
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import (
    Any,
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Deque,
    Generic,
    Iterable,
    Iterator,
    Optional,
    Tuple,
    TypeVar,
    Union,
)

from ._job import Body, Job, read_body
from .errors import BlurdError

T = TypeVar('T')
Source = Union[Body, Tuple[Any, Body]]  # a picture, or a key and a picture
Sources = Union[Iterable[Source], AsyncIterable[Source]]


@dataclass(frozen=True)
class Outcome(Generic[T]):
    """What became of a picture.

    index: Its place among the pictures, from 0.
    key: What was given with it, such as a name; None without.
    picture: The picture as it was given: bytes, or a path.
    result: What the job answered, or None.
    error: Why it did not: a BlurdError, or an OSError if the file cannot be read; or None.
    """

    index: int
    key: Any
    picture: Body = field(repr=False)
    result: Optional[T] = None
    error: Optional[Exception] = None

    def get(self) -> T:
        """The result; raises the error if there is one."""
        if self.error is not None:
            raise self.error
        return self.result  # type: ignore[return-value]


def parted(given: Source) -> Tuple[Any, Body]:
    return given if isinstance(given, tuple) else (None, given)


def checked(in_flight: int) -> int:
    if in_flight < 1:
        raise ValueError('in_flight is the number of pictures at a time, and at least 1')
    return in_flight


def map_pictures(do: Callable[[Job[T], Body], T], job: Job[T], pictures: Iterable[Source], in_flight: int, ordered: bool) -> Iterator[Outcome[T]]:
    def one(index: int, given: Source) -> Outcome[T]:
        key, picture = parted(given)
        try:
            return Outcome(index, key, picture, do(job, picture))
        except (BlurdError, OSError) as error:
            return Outcome(index, key, picture, error=error)

    def begin() -> Iterator[Outcome[T]]:
        pending: Deque[Future[Outcome[T]]] = collections.deque()
        with ThreadPoolExecutor(in_flight, 'blurd') as threads:
            try:
                for index, picture in enumerate(pictures):
                    pending.append(threads.submit(one, index, picture))
                    if len(pending) >= 2 * in_flight:
                        yield next_of(pending, ordered)
                while pending:
                    yield next_of(pending, ordered)
            finally:
                for future in pending:
                    future.cancel()

    checked(in_flight)
    return begin()


def next_of(pending: Deque[Future[Outcome[T]]], ordered: bool) -> Outcome[T]:
    """Takes the first of them, or the first that is done."""
    done = pending[0] if ordered else wait(pending, return_when=FIRST_COMPLETED).done.pop()
    pending.remove(done)
    return done.result()


async def read_body_aside(body: Body) -> bytes:
    """Files are read in a thread, so that the loop goes on."""
    if isinstance(body, (str, os.PathLike)) or hasattr(body, 'read'):
        return await asyncio.get_running_loop().run_in_executor(None, read_body, body)
    return read_body(body)


async def all_of(pictures: Sources) -> AsyncIterator[Source]:
    if isinstance(pictures, AsyncIterable):
        async for picture in pictures:
            yield picture
    else:
        for picture in pictures:
            yield picture


async def map_pictures_asynchronously(
    do: Callable[[Job[T], Body], Awaitable[T]], job: Job[T], pictures: Sources, in_flight: int, ordered: bool
) -> AsyncIterator[Outcome[T]]:
    places = asyncio.Semaphore(checked(in_flight))
    pending: Deque[asyncio.Task[Outcome[T]]] = collections.deque()

    async def one(index: int, given: Source) -> Outcome[T]:
        key, picture = parted(given)
        async with places:
            try:
                return Outcome(index, key, picture, await do(job, picture))
            except (BlurdError, OSError) as error:
                return Outcome(index, key, picture, error=error)

    async def next_one() -> Outcome[T]:
        done: Any = pending[0] if ordered else (await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED))[0].pop()
        pending.remove(done)
        return await done  # type: ignore[no-any-return]

    index = 0
    try:
        async for picture in all_of(pictures):
            pending.append(asyncio.ensure_future(one(index, picture)))
            index += 1
            if len(pending) >= 2 * in_flight:
                yield await next_one()
        while pending:
            yield await next_one()
    finally:
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)
