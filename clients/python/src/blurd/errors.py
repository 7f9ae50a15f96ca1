# SPDX-License-Identifier: MIT
"""Errors. All are BlurdError, and can be pickled, so that they get from one process to another."""

from __future__ import annotations

import json
from typing import Any, Dict, Optional, Tuple, Type


class BlurdError(Exception):
    """What kept a picture from being done."""


class Unavailable(BlurdError):
    """No daemon could be reached, or each one cut the connection, however often that was tried."""


class Timeout(BlurdError):
    """The daemon took longer than the client's `timeout`. That is not tried again: it would take as long."""


class Unexpected(BlurdError):
    """An answer that no blurd gives: something else listens at that address, or stands before it."""


class Problem(BlurdError):
    """An error that the daemon answered (RFC 9457).

    type: `urn:blurd:problem:` and a name.
    title, detail: In words.
    status: Of HTTP.
    parameter: The parameter that caused the problem, if one did.
    request_id: The id of the request in the log of the daemon.
    """

    def __init__(self, type: str, title: str, status: int, detail: str, parameter: Optional[str] = None, request_id: Optional[str] = None) -> None:
        super().__init__(type, title, status, detail, parameter, request_id)
        self.type = type
        self.title = title
        self.status = status
        self.detail = detail
        self.parameter = parameter
        self.request_id = request_id

    @property
    def name(self) -> str:
        """The end of the type, such as `bad-parameter`."""
        return self.type.rpartition(':')[2]

    def __str__(self) -> str:
        return f'{self.title}: {self.detail}' + (f' (request {self.request_id})' if self.request_id else '')

    def __reduce__(self) -> Tuple[Type[Problem], Tuple[Any, ...]]:
        return type(self), (self.type, self.title, self.status, self.detail, self.parameter, self.request_id)


class BadRequest(Problem):
    """The request is wrong, and will be however often it is sent: 400, and 4xx without a class of its own."""


class BadParameter(BadRequest):
    """A parameter is unknown, malformed or out of range."""


class CorruptImage(BadRequest):
    """The body is empty, or the picture is damaged or cut."""


class Unauthorized(BadRequest):
    """The daemon wants a token."""


class BodyTooLarge(BadRequest):
    """The file is larger than the daemon takes."""


class Unsupported(BadRequest):
    """The picture is of a format that this daemon does not read."""


class NoRegion(BadRequest):
    """Nothing would be hidden: nothing was found, or the regions cover no pixel."""


class NotVerified(BadRequest):
    """The report does not hold."""


class LimitExceeded(BadRequest):
    """The picture has more pixels, or needs more memory or time, than the daemon spends on one."""


class Overloaded(Problem):
    """The daemon had more work than it could do in time, however often that was tried."""


class ServerError(Problem):
    """A bug in blurd, or a transfer coding that it does not know."""


CLASSES: Dict[str, Type[Problem]] = {
    'bad-parameter': BadParameter,
    'body-too-large': BodyTooLarge,
    'corrupt-image': CorruptImage,
    'internal': ServerError,
    'limit-exceeded': LimitExceeded,
    'no-region': NoRegion,
    'not-verified': NotVerified,
    'overloaded': Overloaded,
    'too-many-requests': Overloaded,
    'transfer-encoding': ServerError,
    'unauthorized': Unauthorized,
    'unsupported-image': Unsupported,
}


def of_answer(status: int, content: bytes) -> BlurdError:
    """The error that an answer tells."""
    try:
        given = json.loads(content)
        known = {name: given.get(name) for name in ('parameter', 'request_id')}
        kind, title, detail = str(given['type']), str(given['title']), str(given['detail'])
    except (ValueError, TypeError, KeyError, AttributeError):
        if status in (429, 503):  # of a proxy
            return Overloaded('about:blank', 'Overloaded', status, content[:200].decode('utf-8', 'replace'))
        return Unexpected(f'status {status}: {content[:200].decode("utf-8", "replace")}')
    usual = BadRequest if status < 500 else ServerError
    return CLASSES.get(kind.rpartition(':')[2], usual)(kind, title, status, detail, **known)
