# SPDX-License-Identifier: MIT
"""Jobs: an operation with its parameters. They are data: the same one does for many pictures, and can be pickled."""

from __future__ import annotations

import dataclasses
import json
import operator
import os
import pathlib
from dataclasses import dataclass
from typing import IO, Any, Callable, Generic, Iterable, Optional, Sequence, Tuple, TypeVar, Union
from urllib.parse import quote, urlencode

from ._answers import Answer, Plan
from .types import Box, Boxes, ListedRegion, RegionList

T = TypeVar('T')

# Bytes, the path of a file, or a file that is open for reading bytes.
Body = Union[bytes, bytearray, memoryview, str, 'os.PathLike[str]', IO[bytes]]
# A rectangle as four numbers, x, y, width and height, or any shape as text; or several of them.
Rectangle = Tuple[float, float, float, float]
Shapes = Union[str, Rectangle, Sequence[Union[str, Rectangle]]]
# A list of regions: a plan, what `detect` answers, data, or text in JSON.
RegionsPart = Union[Plan, Boxes, RegionList, Sequence[Union[ListedRegion, Box]], str]


@dataclass(frozen=True)
class Job(Generic[T]):
    """What is done to a picture: `blurd.jobs` makes them."""

    path: str
    parameters: Tuple[Tuple[str, str], ...]
    read: Callable[[Answer], T]
    regions: Optional[str] = None
    mask: Optional[bytes] = None

    @property
    def query(self) -> str:
        """The parameters as a query."""
        return urlencode(self.parameters, quote_via=quote, safe=',:')


def read_body(body: Body) -> bytes:
    """The bytes of a body. A file is read to its end, as it may have to be sent again; the daemon takes small ones alone (`max_body`)."""
    if isinstance(body, bytes):
        return body
    if isinstance(body, (bytearray, memoryview)):
        return bytes(body)
    if isinstance(body, (str, os.PathLike)):
        return pathlib.Path(body).read_bytes()
    read = getattr(body, 'read', None)
    content = read() if callable(read) else None
    if not isinstance(content, bytes):
        raise TypeError(f'a picture is bytes, a path, or a file open for reading bytes, not {type(body).__name__}')
    return content


def text_of(value: Any) -> str:
    if type(value).__name__ in ('bool', 'bool_'):  # of Python or numpy
        return 'true' if value else 'false'
    if isinstance(value, (tuple, list)):  # a rectangle
        return ','.join(map(text_of, value))
    if isinstance(value, str):
        return value
    return str(operator.index(value)) if hasattr(value, '__index__') else repr(float(value))


def texts(value: Any) -> Iterable[str]:
    """What stands in the query for a value: shapes may be several."""
    if not isinstance(value, (tuple, list)):
        return (text_of(value),)
    if value and all(isinstance(one, (int, float)) for one in value):
        return (text_of(value),)
    return tuple(map(text_of, value))


def steps(ops: Union[str, Sequence[str]]) -> str:
    return ops if isinstance(ops, str) else '|'.join(ops)


def plain(given: Any) -> Any:
    """Data of it, without what is not there."""
    if not dataclasses.is_dataclass(given) or isinstance(given, type):
        return given
    members = ((one.name, getattr(given, one.name)) for one in dataclasses.fields(given))
    return {name: [plain(one) for one in value] if isinstance(value, list) else value for name, value in members if value is not None}


def regions_text(regions: Optional[RegionsPart]) -> Optional[str]:
    if regions is None or isinstance(regions, str):
        return regions
    if isinstance(regions, Plan):
        return regions.json()
    if isinstance(regions, (dict, Boxes)):
        return json.dumps(plain(regions))
    return json.dumps([plain(one) for one in regions])


def make_job(
    path: str,
    given: Sequence[Tuple[str, Any]],
    read: Callable[[Answer], T],
    regions: Optional[RegionsPart] = None,
    mask: Optional[Body] = None,
) -> Job[T]:
    """Leaves out parameters that are not given."""
    parameters = tuple((name, text) for name, value in given if value is not None for text in texts(value))
    return Job(path, parameters, read, regions_text(regions), None if mask is None else read_body(mask))
