# SPDX-License-Identifier: MIT
"""The client for programs with asyncio."""

from __future__ import annotations

import asyncio
import itertools
import ssl
from types import TracebackType
from typing import Any, AsyncIterator, Optional, Type, TypeVar, Union

import httpx

from . import types
from ._answers import Answer, Report, read_json
from ._job import Body, Job
from ._map import Outcome, Sources, map_pictures_asynchronously, read_body_aside
from ._operations import AsyncOperations
from ._request import LOST, Addresses, Attempts, Request, Settings, addresses_of, answer_of, request_of
from ._verify import verify_request

T = TypeVar('T')


class AsyncClient(AsyncOperations):
    """Asks one daemon or several. All calls are coroutines of asyncio.

    url: `http://host:port`, `https://…` or `unix:/path/of/socket`, or several of these: each request goes to the next one, and to
        another one at once if that is overloaded or away. Without it the variable BLURD_URL, or `http://localhost:8080`.
    token: For a daemon with `--token-file`.
    timeout: Seconds to wait for each part of an answer.
    retries: How often a request is sent again if the daemon is overloaded, cannot be reached or cuts the connection. The wait is
        what `Retry-After` says, at most `longest_wait` seconds. Nothing else is tried again.
    connections: The most connections to each address. Further requests wait for one, as long as that takes.
    tls: What httpx takes as `verify`: False checks no certificate, a context of `ssl` has authorities of your own.
    """

    def __init__(
        self,
        url: Optional[Addresses] = None,
        *,
        token: Optional[str] = None,
        timeout: float = 60,
        retries: int = 6,
        longest_wait: float = 30,
        connections: int = 16,
        tls: Union[bool, str, ssl.SSLContext] = True,
    ) -> None:
        self._settings = settings = Settings(token, timeout, retries, longest_wait, connections, tls)
        self._turn = itertools.count()
        self._doors = [httpx.AsyncClient(transport=httpx.AsyncHTTPTransport(**settings.transport(one)), **settings.options(one)) for one in addresses_of(url)]

    async def do(self, job: Job[T], picture: Body, *, request_id: Optional[str] = None, traceparent: Optional[str] = None) -> T:
        """Does a job with a picture."""
        return job.read(await self._send(request_of(job, await read_body_aside(picture), request_id, traceparent)))

    def map(self, job: Job[T], pictures: Sources, *, in_flight: int = 4, ordered: bool = True) -> AsyncIterator[Outcome[T]]:
        """Does a job with many pictures, so many at a time: an outcome for each, which has the result or the error.

        A picture may come with a key, as a tuple of both; its outcome has the key, too. Outcomes come in the order of the pictures, or with `ordered=False` as they are done. Pictures are taken from the
        iterable as they are needed: at most twice `in_flight` are in memory.
        """
        return map_pictures_asynchronously(self.do, job, pictures, in_flight, ordered)

    async def verify(
        self, report: Union[Report, Body], answer: Optional[Body] = None, *, input: Optional[Body] = None, mask: Optional[Body] = None
    ) -> types.Verdict:
        """Whether a report holds. Raises NotVerified if it does not.

        report: A Report, or the report alone as bytes or the path of its file.
        answer: The picture that was answered; without it that of the Report.
        input: The picture that was sent. With it, the redaction is done again.
        mask: The mask, if there was one.
        """
        return read_json(types.Verdict, await self._send(verify_request(report, answer, input, mask)))

    async def version(self) -> types.Version:
        """Versions of the daemon and its libraries, and what it can do."""
        return read_json(types.Version, answer_of(await self._get('/version')))

    async def readiness(self) -> types.Readiness:
        """The state of the daemon, which is `ready` or says why not. It is asked once."""
        response = await self._get('/readyz')
        ready = response.status_code in (200, 503)
        return read_json(types.Readiness, Answer(response.content, {}) if ready else answer_of(response))

    async def metrics(self) -> str:
        """Counters in the text format of Prometheus."""
        return answer_of(await self._get('/metrics')).content.decode()

    async def _get(self, path: str) -> httpx.Response:
        attempts = Attempts(self._settings, 1)
        while True:
            try:
                return await self._doors[0].get(path)
            except LOST as error:
                await asyncio.sleep(attempts.failed(error))

    async def _send(self, request: Request) -> Answer:
        attempts, first = Attempts(self._settings, len(self._doors)), next(self._turn)
        while True:
            door = self._doors[(first + attempts.made) % len(self._doors)]
            try:
                response = await door.post(**request.arguments())
                wait = attempts.answered(response)
            except LOST as error:
                wait = attempts.failed(error)
            else:
                if wait is None:
                    return answer_of(response)
            await asyncio.sleep(wait)

    async def close(self) -> None:
        """Closes all connections."""
        for door in self._doors:
            await door.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        await self.close()

    def __getstate__(self) -> Any:
        raise TypeError('a client has connections and cannot be pickled: make one in each process')
