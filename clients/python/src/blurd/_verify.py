# SPDX-License-Identifier: MIT
"""The form of /verify."""

from __future__ import annotations

from typing import Optional, Union

from ._answers import Report
from ._job import Body, read_body
from ._request import Part, Request


def verify_request(report: Union[Report, Body], answer: Optional[Body], original: Optional[Body], mask: Optional[Body]) -> Request:
    if isinstance(report, Report):
        answer = report.picture.content if answer is None else answer
        report = report.envelope
    if answer is None:
        raise TypeError('verify needs the picture that was answered')
    parts = {}
    for name, body in (('report', report), ('answer', answer), ('input', original), ('mask', mask)):
        if body is not None:
            part: Part = (name, read_body(body), 'application/octet-stream')
            parts[name] = part
    return Request('/verify', parts)
