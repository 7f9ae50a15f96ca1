# SPDX-License-Identifier: MIT
"""Answers: pictures, plans, reports, and data with types."""

from __future__ import annotations

import base64
import json
import pathlib
import re
from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional, Tuple, Type, TypeVar, cast

from . import _files
from ._convert import build
from .errors import Unexpected
from .types import Envelope, ListedRegion, RegionList

T = TypeVar('T')


@dataclass(frozen=True)
class Answer:
    """The content of an answer with status 200, and its headers, whose names are in lower case."""

    content: bytes
    headers: Mapping[str, str]

    @property
    def media_type(self) -> str:
        return self.headers.get('content-type', '').partition(';')[0].strip().lower()


@dataclass(frozen=True)
class Picture:
    """A picture that was answered.

    content: Its bytes.
    media_type: Such as `image/jpeg`.
    headers: All headers of the answer, whose names are in lower case.
    """

    content: bytes = field(repr=False)
    media_type: str
    headers: Mapping[str, str] = field(repr=False, default_factory=dict)

    @property
    def format(self) -> str:
        """`jpeg`, `png`, `webp` or `avif`."""
        return self.media_type.rpartition('/')[2]

    @property
    def notice(self) -> Optional[str]:
        """`X-Blurd-Notice`: regions that cover no pixel or are cut by the border, traces that may show beside what is redacted."""
        return self.headers.get('x-blurd-notice')

    @property
    def metadata_dropped(self) -> Tuple[str, ...]:
        """`X-Metadata-Dropped`: the kinds of metadata that the answer lacks."""
        return tuple(re.findall(r'[\w-]+', self.headers.get('x-metadata-dropped', '')))

    @property
    def backend(self) -> str:
        """`X-Backend`: what filtered, such as `cpu/avx2` or `cuda:0`."""
        return self.headers.get('x-backend', '')

    @property
    def regions(self) -> Optional[int]:
        """`X-Regions`: how many regions the filter acted on, if the picture was searched or a list was sent."""
        number = self.headers.get('x-regions')
        return None if number is None else int(number)

    @property
    def request_id(self) -> str:
        """`X-Request-Id`: the id of the request in the log of the daemon."""
        return self.headers.get('x-request-id', '')

    @property
    def milliseconds(self) -> Dict[str, float]:
        """`Server-Timing`: the time of each stage, and in all."""
        return {name: float(time) for name, time in re.findall(r'([\w-]+);dur=([\d.]+)', self.headers.get('server-timing', ''))}

    def save(self, path: _files.Path) -> pathlib.Path:
        """Writes it to a temporary name beside the path, and renames that."""
        return _files.write(path, self.content)


class Plan:
    """What a redaction would hide. Edit `regions`, and hide them: `client.redact(photo, regions=plan)`."""

    def __init__(self, data: RegionList) -> None:
        self.data = data

    @property
    def width(self) -> int:
        """Width of the upright picture."""
        return self.data['width']

    @property
    def height(self) -> int:
        """Height of the upright picture."""
        return self.data['height']

    @property
    def sha256(self) -> str:
        """The digest of the file. The list is refused for any other one."""
        return self.data['sha256']

    @property
    def regions(self) -> List[ListedRegion]:
        """What is hidden."""
        return self.data['regions']

    @property
    def doubtful(self) -> List[ListedRegion]:
        """What scores less, and is not hidden unless it is moved to `regions`."""
        return self.data.setdefault('doubtful', [])

    def json(self) -> str:
        return json.dumps(self.data)

    def save(self, path: _files.Path) -> pathlib.Path:
        return _files.write(path, self.json().encode() + b'\n')

    @classmethod
    def load(cls, path: _files.Path) -> Plan:
        return cls(cast(RegionList, json.loads(pathlib.Path(path).read_bytes())))

    def __repr__(self) -> str:
        return f'Plan({len(self.regions)} regions, {len(self.data.get("doubtful", ()))} doubtful)'


@dataclass(frozen=True)
class Report:
    """A signed report, and the picture that it is about.

    envelope: The report as it was answered: an envelope of DSSE 1.0, in JSON.
    picture: The picture.
    """

    envelope: bytes = field(repr=False)
    picture: Picture

    @property
    def text(self) -> Dict[str, Any]:
        """What the report says. That it holds is not checked here: see `client.verify`."""
        return cast(Dict[str, Any], json.loads(base64.b64decode(self.data['payload'])))

    @property
    def data(self) -> Envelope:
        return cast(Envelope, json.loads(self.envelope))

    @property
    def key(self) -> str:
        """The name of the key that signed."""
        return self.data['signatures'][0]['keyid']

    def save(self, path: _files.Path) -> pathlib.Path:
        """Writes the report. The picture is saved by `report.picture.save`."""
        return _files.write(path, self.envelope)


def read_json(kind: Type[T], answer: Answer) -> T:
    try:
        return cast(T, build(kind, json.loads(answer.content)))
    except (ValueError, TypeError, AttributeError) as error:
        raise Unexpected(f'an answer that is no {kind.__name__}: {answer.content[:200]!r}') from error


def read_picture(answer: Answer) -> Picture:
    if not answer.media_type.startswith('image/'):
        raise Unexpected(f'an answer that is no picture but {answer.media_type or "of no type"}')
    return Picture(answer.content, answer.media_type, answer.headers)


def read_plan(answer: Answer) -> Plan:
    data = json.loads(answer.content) if answer.media_type == 'application/json' else None
    if not isinstance(data, dict) or 'regions' not in data:
        raise Unexpected(f'an answer that is no plan but {answer.media_type or "of no type"}')
    return Plan(cast(RegionList, data))


def read_report(answer: Answer) -> Report:
    parts = split(answer)
    if set(parts) != {'report', 'answer'}:
        raise Unexpected(f'an answer without a report, of type {answer.media_type or "that is not given"}')
    picture = parts['answer']
    return Report(parts['report'].content, Picture(picture.content, picture.media_type, {**answer.headers, 'content-type': picture.media_type}))


def split(answer: Answer) -> Dict[str, Answer]:
    """The parts of multipart/mixed, by name."""
    found = re.search(r'boundary="?([^";]+)', answer.headers.get('content-type', ''))
    if not found or answer.media_type != 'multipart/mixed':
        return {}
    parts = {}
    for piece in (b'\r\n' + answer.content).split(b'\r\n--' + found.group(1).encode())[1:-1]:
        head, _, content = piece.partition(b'\r\n\r\n')
        lines = (line.split(':', 1) for line in head.decode('latin-1').split('\r\n') if ':' in line)
        headers = {name.strip().lower(): value.strip() for name, value in lines}
        name = re.search(r'\bname="([^"]*)"', headers.get('content-disposition', ''))
        parts[name.group(1) if name else ''] = Answer(content, headers)
    return parts
