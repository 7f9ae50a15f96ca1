# SPDX-License-Identifier: MIT
"""Lines for mypy alone: what is right has these types, and `type: ignore` stands where a mistake has to be found. One that is not found fails
as an unused comment."""

from __future__ import annotations

import pathlib
from typing import Iterator

import blurd
from blurd import jobs
from blurd.ray import Apply


def right(client: blurd.Client) -> None:
    picture: blurd.Picture = client.blur(b'', sigma=8, edge='mirror', region=[(0, 0, 10, 10), 'ellipse:1,2,3,4'])
    path: pathlib.Path = picture.save('blurred.jpg')
    with open(path, 'rb') as file:
        boxes: blurd.types.Boxes = client.detect(file, detect='faces,text')
    if boxes.faces:
        score: float = boxes.faces[0].score
        print(score)
    plan: blurd.Plan = client.redact_plan(path, detect='faces')
    plan.regions.append({'box': [0, 0, 10, 10]})
    report: blurd.Report = client.redact_report(path, regions=plan)
    verdict: blurd.types.Verdict = client.verify(report, input=path)
    client.rotate(path, angle=90)
    client.crop(path, width='50%', height=20)
    outcomes: Iterator[blurd.Outcome[blurd.Picture]] = client.map(jobs.redact(detect='faces'), [path, b'', 'photo.jpg'])
    named: Iterator[blurd.Outcome[blurd.types.Boxes]] = client.map(jobs.detect(), [('a name', b''), ('another', b'')])
    print(next(named).get().width)
    numbers: blurd.types.Statistics = client.do(jobs.stats(), b'')
    Apply(jobs.stats(), url='http://localhost:8080')
    print(verdict.verified, [one.get().content for one in outcomes], numbers.channels[0].mean)


def wrong(client: blurd.Client) -> None:
    client.blur(b'', sigma='much')  # type: ignore[arg-type]
    client.blur(b'', edge='none')  # type: ignore[arg-type]
    client.blur(b'', sigmas=8)  # type: ignore[call-arg]
    client.blur(17)  # type: ignore[arg-type]
    client.map(jobs.blur(), [17])  # type: ignore[list-item]
    client.pipeline(b'')  # type: ignore[call-arg]
    client.stats(b'').save('x')  # type: ignore[attr-defined]
    print(client.do(jobs.blur(), b'').channels)  # type: ignore[attr-defined]


async def asynchronous(client: blurd.AsyncClient) -> None:
    picture: blurd.Picture = await client.resize(b'', width=100)
    async for outcome in client.map(jobs.stats(), [picture.content]):
        print(outcome.get().width)
    print(client.blur(b'').content)  # type: ignore[attr-defined]
