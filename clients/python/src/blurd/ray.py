# SPDX-License-Identifier: MIT
"""Classes for `map_batches` of Ray Data.

    from blurd.ray import Redact

    pictures = ray.data.read_binary_files('photos', include_paths=True)
    hidden = pictures.map_batches(Redact, fn_constructor_kwargs={'detect': 'faces'}, batch_size=16, concurrency=1, num_cpus=0.1)

No picture ends the job: the columns `status` and `error` say what became of each."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, Dict, Generic, List, Optional, TypeVar

import numpy

from . import jobs
from ._answers import Picture, Plan, Report
from ._job import Job
from ._map import Outcome
from ._request import Addresses
from ._synchronous import Client
from .errors import Problem, Timeout, Unavailable

T = TypeVar('T')
Batch = Dict[str, Any]


def column(values: List[Any]) -> Any:
    """An array of objects. One of bytes would be cut at the first zero byte."""
    made = numpy.empty(len(values), dtype=object)
    for index, value in enumerate(values):
        made[index] = value
    return made


def status(outcome: Outcome[Any]) -> str:
    """`ok`, the name of the problem, `unavailable`, `timeout` or `failed`."""
    error = outcome.error
    if error is None:
        return 'ok'
    if isinstance(error, Problem):
        return error.name
    return 'unavailable' if isinstance(error, Unavailable) else 'timeout' if isinstance(error, Timeout) else 'failed'


def columns(result: Any) -> Dict[str, Any]:
    """What a result becomes in a row; of None, which a failure leaves, nothing but empty values."""
    if isinstance(result, Picture):
        return {'bytes': result.content, 'notice': result.notice or ''}
    if isinstance(result, Report):
        return {**columns(result.picture), 'report': result.envelope}
    return {'json': result.json() if isinstance(result, Plan) else json.dumps(dataclasses.asdict(result))}


class Apply(Generic[T]):
    """Does a job with the pictures of each batch.

    job: What `blurd.jobs` makes.
    column: The column that has the pictures.
    in_flight: How many pictures of a batch are sent at a time.
    options: `url`, `token` and the other arguments of Client.

    The answer has the columns of the batch, and `status` and `error`. A job that answers pictures replaces that column, and adds
    `notice`; one with reports also adds `report`. Other jobs leave the pictures out and add the column `json`. Where a picture failed, these
    are empty: an original is never in the place of its answer.
    """

    def __init__(self, job: Job[T], *, column: str = 'bytes', in_flight: int = 4, **options: Any) -> None:
        self.job = job
        self.column = column
        self.in_flight = in_flight
        self.client = Client(options.pop('url', None), **options)

    def __call__(self, batch: Batch) -> Batch:
        outcomes = list(self.client.map(self.job, map(as_bytes, batch[self.column]), in_flight=self.in_flight))
        rows = [None if outcome.error else columns(outcome.result) for outcome in outcomes]
        answer = {name: values for name, values in batch.items() if name != self.column}
        for name, empty in self.kinds().items():
            answer[self.column if name == 'bytes' else name] = column([empty if row is None else row[name] for row in rows])
        answer['status'] = column([status(outcome) for outcome in outcomes])
        answer['error'] = column([str(outcome.error or '') for outcome in outcomes])
        return answer

    def kinds(self) -> Dict[str, Any]:
        """{name of a column: its value for a failure}. They follow from the job alone, so that all batches have the same columns."""
        name = getattr(self.job.read, '__name__', '')
        kinds: Dict[str, Dict[str, Any]] = {'read_picture': {'bytes': b'', 'notice': ''}, 'read_report': {'bytes': b'', 'notice': '', 'report': b''}}
        return kinds.get(name, {'json': ''})


def as_bytes(picture: Any) -> bytes:
    """Ray hands on None for a missing picture: the daemon refuses an empty one."""
    return b'' if picture is None else bytes(picture)


class Redact(Apply[Picture]):
    """Redacts the pictures of each batch. The arguments are those of `Client.redact` and of Apply."""

    def __init__(
        self,
        url: Optional[Addresses] = None,
        *,
        token: Optional[str] = None,
        column: str = 'bytes',
        in_flight: int = 4,
        options: Optional[Dict[str, Any]] = None,
        **parameters: Any,
    ) -> None:
        super().__init__(jobs.redact(**parameters), column=column, in_flight=in_flight, url=url, token=token, **(options or {}))
