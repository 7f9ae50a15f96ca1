# SPDX-License-Identifier: MIT
"""A client of blurd, the daemon that blurs, redacts, resizes and searches pictures: `Client`, and `AsyncClient` for asyncio."""

from . import jobs, types
from ._answers import Picture, Plan, Report
from ._asynchronous import AsyncClient
from ._job import Body, Job
from ._map import Outcome
from ._synchronous import Client
from .errors import (
    BadParameter,
    BadRequest,
    BlurdError,
    BodyTooLarge,
    CorruptImage,
    LimitExceeded,
    NoRegion,
    NotVerified,
    Overloaded,
    Problem,
    ServerError,
    Timeout,
    Unauthorized,
    Unavailable,
    Unexpected,
    Unsupported,
)

__all__ = [
    'AsyncClient',
    'BadParameter',
    'BadRequest',
    'BlurdError',
    'Body',
    'BodyTooLarge',
    'Client',
    'CorruptImage',
    'Job',
    'LimitExceeded',
    'NoRegion',
    'NotVerified',
    'Outcome',
    'Overloaded',
    'Picture',
    'Plan',
    'Problem',
    'Report',
    'ServerError',
    'Timeout',
    'Unauthorized',
    'Unavailable',
    'Unexpected',
    'Unsupported',
    'jobs',
    'types',
]
