#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the rows of a check's JSON into docs/security.md, between the check's markers:

    tests/hostile/table.py build/hostile.json...

The file names its check ("check-hostile"); the page must have `<!-- check-hostile -->` and `<!-- /check-hostile -->`."""

import json
import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).resolve().parents[2] / 'docs/security.md'


def cell(text):
    return re.sub(r'[|\n]', ' ', text).replace('<', '&lt;')


def table(report):
    where = report['machine']
    yield f"{where['date']}, {where['commit']}, {where['processors']} x {where['processor']}."
    yield ''
    yield '| | against | promise | last figure | verdict | checked by |'
    yield '|---|---|---|---|---|---|'
    for row in report['rows']:
        verdict = row['verdict'] + (f": {row['because']}" if row['because'] else '')
        cells = [row['id'], row['threat'], row['target'], row['measured'], verdict]
        yield '| ' + ' | '.join(map(cell, cells)) + f" | `{row['command']}` |"


def write(paths):
    page = PAGE.read_text()
    for path in paths:
        report = json.loads(pathlib.Path(path).read_text())
        begin, end = f"<!-- {report['check']} -->", f"<!-- /{report['check']} -->"
        if begin not in page or end not in page:
            sys.exit(f'{PAGE} has no {begin} ... {end}')
        before, rest = page.split(begin, 1)
        page = before + begin + '\n' + '\n'.join(table(report)) + '\n' + end + rest.split(end, 1)[1]
    PAGE.write_text(page)


if __name__ == '__main__':
    write(sys.argv[1:])
