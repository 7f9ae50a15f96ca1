#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the tables of the pages that stand between marks, from what the program says about itself:

    <!-- table: blur.* mode -->       parameters, by their names in the description of the interface
    <!-- table: paths -->             what there is; also problems, headers NAME..., metrics, chart
    <!-- end -->

    docs/generate/tables.py [--check]     --check only says which pages are not current; 77 without a current build

BLURD names the program (build/release/blurd)."""

import fnmatch
import json
import os
import pathlib
import re
import subprocess
import sys

import marked
from marked import ROOT

PROGRAM = pathlib.Path(os.environ.get('BLURD') or ROOT / 'build/release/blurd')
PAGES = [*sorted(ROOT.glob('docs/*.md')), *sorted(ROOT.glob('docs/api/*.md')), ROOT / 'docker/helm/README.md']
MARKED = re.compile(r'(<!-- table: (.*?) -->\n).*?(<!-- end -->\n)', re.S)
# Endpoints that are described elsewhere than on a page of their own name.
ELSEWHERE = {'/erode': 'api/dilate.md', '/detect': 'faces.md', '/verify': 'api/evidence.md#verifying', '/': 'playground.md', '/metrics': 'operations.md#metrics', '/series/{filter}': 'video.md',
             '/livez': 'operations.md#health-checks', '/readyz': 'operations.md#health-checks'}
METRIC = re.compile(r'METRIC\((\w+), \w+, "(\w+)[^,]*",\s*"((?:[^"\\]|\\.)*)"\)')
WAY = re.compile(r'^WAY\(\w+, \w+, "([^"]+)", "([^"]+)"\)', re.MULTILINE)
SOURCES = ('filters/*.[ch]', 'server/**/*.[ch]', 'server/ways.def', 'detect/detectors.def', 'server/pages/openapi.json', 'config/options.def')


def table(head, rows):
    """Markdown; a bar inside a cell is escaped."""
    lines = ['| ' + ' | '.join(cell.replace('|', '\\|') for cell in row) + ' |' for row in (head, *rows)]
    lines.insert(1, '|' + '---|' * len(head))
    return '\n'.join(re.sub(' +(?= \\|)', '', line) for line in lines) + '\n'


def code(words):
    return ' '.join(f'`{word}`' for word in words)


def number(value):
    return f'{value:.10g}' if isinstance(value, float) else str(value)


def sets(every):
    """The names of which sets consist, and what stands for an empty one; '': no value is a set."""
    names = [name for name in every if any(name in one.split(',') for one in every if ',' in one)]
    return ''.join(f'{code([one])}, or ' for one in every if one not in names and ',' not in one) + f'one or several of {code(names)}' if names else ''


def values(schema):
    if 'items' in schema:
        return f'{values(schema["items"])}, up to {schema["maxItems"]} times'
    if 'enum' in schema:
        return sets(schema['enum']) or code(schema['enum'])
    if schema['type'] == 'boolean':
        return code(('true', 'false'))
    if schema['type'] == 'string':
        return schema['title']
    text = f'{number(schema["minimum"])} to {number(schema["maximum"])}'
    if 'anyOf' in schema:
        text += f', not nearer to 0 than {number(schema["anyOf"][1]["minimum"])}'
    return f'odd, {text}' if 'not' in schema else text


def default(schema):
    if 'default' in schema:
        return f'`{json.dumps(schema["default"])}`'.replace('"', '')
    return schema.get('x-default', '')


def parameter_table(document, patterns):
    known = document['components']['parameters']
    keys = [key for pattern in patterns for key in known if fnmatch.fnmatchcase(key, pattern)]
    missing = [pattern for pattern in patterns if not fnmatch.filter(known, pattern)]
    if missing:
        sys.exit(f'docs/generate/tables.py: no parameter is called {missing[0]}')
    rows = [(known[key], document['components']['schemas'][known[key]['schema']['$ref'].rsplit('/', 1)[1]]) for key in keys]
    return table(('parameter', 'values', 'default', 'meaning'),
                 [(f'`{row["name"]}`', values(schema), default(schema), row['description']) for row, schema in rows])


def path_table(document):
    rows = []
    for path, item in document['paths'].items():
        method = 'post' if 'post' in item else 'get'
        page = ELSEWHERE.get(path, f'api{path}.md')
        link = f'[{path[1:] or "playground"}]({page})'
        link = link if (ROOT / 'docs' / page.partition('#')[0]).exists() else ''
        rows.append((method == 'get', (f'`{method.upper()} {path}`', item[method]['summary'], link)))
    return table(('request', 'answer', ''), [row for _, row in sorted(rows, key=lambda row: row[0])])


def problem_table(document):
    rows = []
    for status, answer in document['components']['responses'].items():
        for part in answer['description'].split('\n\n'):
            slug, when = part.split(': ', 1)
            rows.append((status, slug, when))
    return table(('status', '`type` ends in', 'when'), rows)


def header_table(document, patterns):
    known = document['components']['headers']
    names = sorted(name for name in known if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns))
    return table(('header', 'meaning'), [(f'`{name}`', known[name]['description']) for name in names])


def metric_table():
    """Rows of tables that server/metrics.def includes stand there, too."""
    command = [os.environ.get('CC', 'cc'), '-E', '-P', '-I', ROOT, '-x', 'c', ROOT / 'server/metrics.def']
    rows = METRIC.findall(re.sub('" "', '', subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    return table(('metric', 'kind', 'meaning'), [(f'`{name}`', kind.lower(), text) for kind, name, text in rows])


def chart_table():
    """The values of the chart: a key with the comment over it."""
    rows, said, parent = [], [], ''
    for line in (ROOT / 'docker/helm/values.yaml').read_text().splitlines()[1:]:
        inner, text = line.startswith(' '), line.strip()
        if text.startswith('# '):
            said.append(text[2:])
        elif text and text[0] != '#':
            name, _, value = text.partition(':')
            parent = parent if inner else name
            if value:
                rows.append([f'`{parent}.{name}`' if inner else f'`{name}`', f'`{value.strip()}`', ' '.join(said)])
                said = []
    return table(('value', 'default', 'meaning'), rows)


def way_table():
    return table(('way', 'meaning'), [(f'`{name}`', text) for name, text in WAY.findall((ROOT / 'server/ways.def').read_text())])


def content(document, words):
    kind, *names = words.split()
    if kind == 'headers':
        return header_table(document, names)
    stated = {'metrics': metric_table, 'ways': way_table, 'chart': chart_table}
    described = {'paths': path_table, 'problems': problem_table}
    if kind in stated:
        return stated[kind]()
    return described[kind](document) if kind in described else parameter_table(document, [kind, *names])


def is_current():
    built = PROGRAM.stat().st_mtime if PROGRAM.exists() else 0
    return built and all(path.stat().st_mtime <= built for pattern in SOURCES for path in ROOT.glob(pattern))


def main():
    check = sys.argv[1:] == ['--check']
    if check and not is_current():
        print(f'    {PROGRAM.name} is not built, or older than its sources: the tables are compared by the http tests')
        sys.exit(77)
    document = json.loads(subprocess.run([PROGRAM, '--help-openapi'], check=True, capture_output=True).stdout)

    def filled(_, text):
        return MARKED.sub(lambda found: found[1] + content(document, found[2]) + found[3], text)
    sys.exit(marked.rewrite(PAGES, filled, check, 'is not what the tables say: run make docs'))


if __name__ == '__main__':
    main()
