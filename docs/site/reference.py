# SPDX-License-Identifier: MIT
"""Pages of the description of the interface that the program prints (OpenAPI), in Markdown: they are found by the search, their links
are checked, and they need no script that browsers would fetch and run."""

import json
import re
import subprocess

import stage
import tables

INTRODUCTION = '''# {title}

These pages are made from what `blurd --help-openapi` prints. A running daemon answers it at `GET /openapi.json`, with its own limits.
[The HTTP interface](../../docs/api.md) explains it.

'''


def shared(document, operation):
    """(key, parameter) of parameters that others take, too."""
    keys = [one['$ref'].rsplit('/', 1)[1] for one in operation['parameters'] if '$ref' in one]
    return [(key, document['components']['parameters'][key]) for key in keys if '.' not in key]


def own(document, operation):
    keys = [one['$ref'].rsplit('/', 1)[1] for one in operation['parameters'] if '$ref' in one]
    keys = [key for key in keys if '.' in key]
    return stage.arranged('', tables.parameter_table(document, keys)) + '\n' if keys else ''


def in_path(operation):
    return ''.join(f'`{{{one["name"]}}}` is one of {tables.code(one["schema"]["enum"])}. {one["description"]}\n\n'
                   for one in operation['parameters'] if one.get('in') == 'path')


def body(operation):
    kinds = list(operation.get('requestBody', {}).get('content', {}))
    return f'**Body:** {", ".join(f"`{kind}`" for kind in kinds)}\n\n' if kinds else ''


def schema_link(schema):
    """The name of a schema, if it is one with a name."""
    name = schema.get('$ref', '').rsplit('/', 1)[-1]
    return f' ([{name}](schemas.md#{name.lower()}))' if name else ''


def contents(answer):
    return ', '.join(f'`{kind}`{schema_link(content.get("schema", {}))}' for kind, content in answer.get('content', {}).items())


def answers(operation):
    parts, problems = [], []
    for status, answer in operation['responses'].items():
        if '$ref' in answer:
            problems.append(f'[{status}](answers.md#{status})')
            continue
        headers = ', '.join(f'[{name}](answers.md#{name.lower()})' for name in answer.get('headers', {}))
        parts.append(f'**{status}:** {answer["description"]} {contents(answer)}\n\n' + (f'**Headers:** {headers}\n\n' if headers else ''))
    return ''.join(parts) + (f'**Problems:** {", ".join(problems)}\n\n' if problems else '')


def more(path):
    page = tables.ELSEWHERE.get(path, f'api{path}.md')
    return f' [More](../../docs/{page})' if (tables.ROOT / 'docs' / page.partition('#')[0]).exists() else ''


def operation_page(document):
    parts = [INTRODUCTION.format(title='Operations'), document['info']['description'], '\n\n']
    for path, item in sorted(document['paths'].items(), key=lambda one: 'get' in one[1]):
        method = 'post' if 'post' in item else 'get'
        operation = item[method]
        links = ', '.join(f'[{one["name"]}](parameters.md#{key.lower()})' for key, one in shared(document, operation))
        parts += [f'## {method.upper()} {path}\n\n{operation["summary"]}{more(path)}\n\n', in_path(operation), own(document, operation),
                  f'**Shared parameters:** {links}\n\n' if links else '', body(operation), answers(operation)]
    return ''.join(parts)


def parameter_page(document):
    parts = [INTRODUCTION.format(title='Shared parameters')]
    for key, one in sorted(document['components']['parameters'].items()):
        if '.' in key:
            continue
        schema = document['components']['schemas'].get(one['schema'].get('$ref', '').rsplit('/', 1)[-1], one['schema'])
        parts.append(f'## {one["name"]}' + f' {{ #{key.lower()} }}\n\n{one["description"]}\n\n')
        kind = 'In the query or a part of a form' if one['in'] == 'query' else f'In the {one["in"]}'
        known = 'enum' in schema or 'items' in schema or 'title' in schema or schema.get('type') in ('boolean', 'integer', 'number')
        fixed = tables.default(schema)
        parts.append(f'{kind}.' + (f' Values: {tables.values(schema)}.' if known else '') + (f' Default: {fixed}.' if fixed else '') + '\n\n')
    return ''.join(parts)


def answer_page(document):
    parts = [INTRODUCTION.format(title='Problems and headers'), '## Problems\n\n']
    for status, answer in document['components']['responses'].items():
        problems = ''.join(f'* {one}\n' for one in answer['description'].split('\n\n'))
        parts.append(f'### {status}\n\n{problems}\n{contents(answer)}\n\n')
    parts.append('## Headers\n\n')
    for name, header in document['components']['headers'].items():
        parts.append(f'### {name}\n\n{header["description"]}\n\n')
    return ''.join(parts)


def schema_page(document):
    """All but the values of parameters, which are in the tables."""
    schemas = document['components']['schemas']
    simple = {one['schema'].get('$ref', '').rsplit('/', 1)[-1] for one in document['components']['parameters'].values()}
    shown = [name for name in schemas if name not in simple]
    parts = [INTRODUCTION.format(title='Schemas')]
    for name in shown:
        text = json.dumps(schemas[name], indent=1)
        named = [one for one in dict.fromkeys(re.findall(r'#/components/schemas/(\w+)', text)) if one in shown]
        links = ', '.join(f'[{one}](#{one.lower()})' for one in named)
        parts.append(f'## {name}\n\n' + (f'It has {links}.\n\n' if named else '') + f'```json\n{text}\n```\n\n')
    return ''.join(parts)


def pages(program):
    """{name of a page: its text}"""
    document = json.loads(subprocess.run([program, '--help-openapi'], check=True, capture_output=True).stdout)
    return {'operations.md': operation_page(document), 'parameters.md': parameter_page(document), 'answers.md': answer_page(document),
            'schemas.md': schema_page(document)}
