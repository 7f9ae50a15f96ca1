# SPDX-License-Identifier: MIT
"""What both clients have in common: addresses, requests, and when a request is sent again."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union
from urllib.parse import unquote

import httpx

from . import errors
from ._answers import Answer
from ._job import Job

Addresses = Union[str, Sequence[str]]
LONGEST_QUERY = 6000  # the daemon takes 8 KiB of path and query
FIRST_WAIT = 0.1  # seconds, doubled each time where the daemon does not say how long
Part = Tuple[str, bytes, str]
LOST = (httpx.RequestError, OSError)  # older versions of httpx let errors of TLS through


def addresses_of(given: Optional[Addresses]) -> List[str]:
    if given is None:
        given = os.environ.get('BLURD_URL', 'http://localhost:8080')
    found = [given] if isinstance(given, str) else list(given)
    if not found:
        raise ValueError('no address of a daemon')
    for address in found:
        if not address.startswith(('http://', 'https://', 'unix:')):
            raise ValueError(f'{address} is no address: http://…, https://… or unix:/path')
    return [address.rstrip('/') for address in found]


def socket_of(address: str) -> Optional[str]:
    """The path of a Unix socket."""
    return unquote(address[len('unix:') :]) if address.startswith('unix:') else None


@dataclass(frozen=True)
class Settings:
    """How a client asks.

    timeout: Seconds to wait for each part of an answer.
    retries: How often a request is sent again.
    longest_wait: The most seconds to wait before that, whatever the daemon says.
    connections: The most connections to each address. Further requests wait for one, as long as that takes.
    """

    token: Optional[str] = None
    timeout: float = 60
    retries: int = 6
    longest_wait: float = 30
    connections: int = 16
    tls: Any = True

    def options(self, address: str) -> Dict[str, Any]:
        """The arguments of a client of httpx: no limit of the time to wait for a connection, since such requests would be lost; no proxy
        of the environment before a Unix socket."""
        headers = {'User-Agent': 'blurd-python', **({'Authorization': f'Bearer {self.token}'} if self.token else {})}
        timeout = httpx.Timeout(self.timeout, connect=min(self.timeout, 10), pool=None)
        return {'headers': headers, 'timeout': timeout, 'base_url': base_of(address), 'trust_env': socket_of(address) is None}

    def transport(self, address: str) -> Dict[str, Any]:
        """The arguments of a transport of httpx."""
        limits = httpx.Limits(max_connections=self.connections, max_keepalive_connections=self.connections)
        return {'verify': self.tls, 'limits': limits, 'uds': socket_of(address)}


def base_of(address: str) -> str:
    return 'http://localhost' if socket_of(address) else address


@dataclass(frozen=True)
class Request:
    """A request that can be sent as often as needed."""

    path: str
    parts: Dict[str, Part] = field(repr=False, default_factory=dict)
    content: bytes = field(repr=False, default=b'')
    fields: Dict[str, List[str]] = field(default_factory=dict)
    headers: Dict[str, str] = field(default_factory=dict)

    def arguments(self) -> Dict[str, Any]:
        """For a client of httpx."""
        if self.parts:
            return {'url': self.path, 'headers': self.headers, 'data': self.fields, 'files': self.parts}
        return {'url': self.path, 'headers': {'Content-Type': 'application/octet-stream', **self.headers}, 'content': self.content}


def ids(request_id: Optional[str], traceparent: Optional[str]) -> Dict[str, str]:
    given = {'X-Request-Id': request_id, 'traceparent': traceparent}
    return {name: value for name, value in given.items() if value is not None}


def request_of(job: Job[Any], content: bytes, request_id: Optional[str], traceparent: Optional[str]) -> Request:
    """Parameters stand in the query, or in the form if they are too long for that."""
    headers, query, parts = ids(request_id, traceparent), job.query, {}
    if job.regions is not None:
        parts['regions'] = ('regions.json', job.regions.encode(), 'application/json')
    if job.mask is not None:
        parts['mask'] = ('mask.png', job.mask, 'image/png')
    fields: Dict[str, List[str]] = {}
    if len(query) > LONGEST_QUERY:
        for name, value in job.parameters:
            fields.setdefault(name, []).append(value)
        query = ''
    path = f'{job.path}?{query}' if query else job.path
    if not parts and not fields:
        return Request(path, content=content, headers=headers)
    return Request(path, {**parts, 'image': ('picture', content, 'application/octet-stream')}, fields=fields, headers=headers)


class Attempts:
    """Says after each attempt whether there is another one, and when."""

    def __init__(self, settings: Settings, addresses: int) -> None:
        self.settings = settings
        self.addresses = addresses
        self.made = 0

    def pause(self, told: Optional[float]) -> Optional[float]:
        """Seconds to wait, None if there is no further attempt. Another address is asked at once."""
        self.made += 1
        if self.made > self.settings.retries:
            return None
        if self.made % self.addresses:
            return 0
        rounds = self.made // self.addresses - 1
        usual = FIRST_WAIT * 2 ** min(rounds, 16) * random.uniform(0.5, 1)  # so that clients do not come back together
        return min(self.settings.longest_wait, usual if told is None else told)

    def failed(self, error: Exception) -> float:
        """After an attempt without an answer: seconds to wait. Raises if there is no further attempt."""
        lost = isinstance(error, (httpx.NetworkError, httpx.RemoteProtocolError, httpx.ConnectTimeout, ConnectionError))
        if not lost or 'CERTIFICATE_VERIFY_FAILED' in str(error):
            kind = errors.Timeout if isinstance(error, httpx.TimeoutException) else errors.Unavailable
            raise kind(str(error) or type(error).__name__) from error
        wait = self.pause(None)
        if wait is None:
            raise errors.Unavailable(f'{error or type(error).__name__} ({self.made} attempts)') from error
        return wait

    def answered(self, response: httpx.Response) -> Optional[float]:
        """After an answer: seconds to wait if the daemon is overloaded, None if it is the final answer."""
        if response.status_code not in (429, 503):
            return None
        told = response.headers.get('Retry-After', '')
        return self.pause(float(told) if told.isdigit() else None)


def answer_of(response: httpx.Response) -> Answer:
    """The answer, or the error that it tells."""
    if response.status_code != 200:
        raise errors.of_answer(response.status_code, response.content)
    return Answer(response.content, {name.lower(): value for name, value in response.headers.items()})
