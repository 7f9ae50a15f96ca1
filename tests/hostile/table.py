#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the rows of a check's JSON: what is promised into docs/security.md, between the check's markers, and what was measured
into bench/results:

    tests/hostile/table.py build/hostile.json...

The file names its check ("check-hostile"); the page must have `<!-- check-hostile -->` and `<!-- /check-hostile -->`. Its results are
bench/results/check-hostile.md."""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / 'docs/security.md'


def cell(text):
    return re.sub(r'[|\n]', ' ', text).replace('<', '&lt;')


def promises(report):
    yield '| | against | promise |'
    yield '|---|---|---|'
    for row in report['rows']:
        yield '| ' + ' | '.join(map(cell, (row['id'], row['threat'], row['target']))) + ' |'


def results(report):
    where = report['machine']
    yield f"# The last run of `make {report['check']}`"
    yield ''
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
        page = before + begin + '\n' + '\n'.join(promises(report)) + '\n' + end + rest.split(end, 1)[1]
        (ROOT / f"bench/results/{report['check']}.md").write_text('\n'.join(results(report)) + '\n')
    PAGE.write_text(page)


if __name__ == '__main__':
    write(sys.argv[1:])
