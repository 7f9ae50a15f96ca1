#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes types of TypeScript from the description of the interface: parameters and answers of each operation, errors.

    blurd --help-openapi | clients/typescript/generate.py >blurd.d.ts"""

import json
import pathlib
import re
import sys
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import description  # noqa: E402

HEAD = '// SPDX-License-Identifier: MIT\n// Made by clients/typescript/generate.py of blurd {}.\n'
SCHEMAS = ('Boxes', 'Statistics', 'Placeholder', 'Verdict', 'Readiness', 'Version', 'RegionList', 'ReportedJson', 'Envelope', 'Problem')
ANSWERS = {'Picture': 'Blob', 'Plan': 'RegionList', 'Report': 'ReportedJson'}
PLAIN = {'string': 'string', 'integer': 'number', 'number': 'number', 'boolean': 'boolean', 'null': 'null'}
TITLES = {'a number': 'number | string', 'a size': 'number | string'}
PARTS = {'regions': 'RegionList | RegionList["regions"]', 'mask': 'Blob'}
PARTS_TEXT = {'regions': 'A list of regions, a part of the form.', 'mask': 'A grey PNG of 8 bits and the size of the upright picture, a part of the form.'}


def comment(text, indent=''):
    if not text:
        return ''
    lines = textwrap.wrap(text.replace('*/', '* /'), 120, break_on_hyphens=False)
    if len(lines) == 1:
        return f'{indent}/** {lines[0]} */\n'
    return f'{indent}/**\n' + ''.join(f'{indent} * {line}\n' for line in lines) + f'{indent} */\n'


def choice(values):
    """Of values that are digits, numbers are values, too: `angle: 90`."""
    texts = [json.dumps(one) for one in values] + [one for one in values if str(one).isdigit() and isinstance(one, str)]
    return ' | '.join(texts)


class Types:
    def __init__(self, interface):
        self.interface = interface

    def of(self, schema, indent=''):
        """The type of a value of an answer."""
        if '$ref' in schema:
            found, name = self.interface.resolve(schema)
            return name if found.get('type') == 'object' else self.of(found, indent)
        if 'enum' in schema or 'const' in schema:
            return ' | '.join(json.dumps(one) for one in schema.get('enum', [schema.get('const')]))
        kinds = schema.get('type')
        if kinds == 'array':
            return self.array(schema, indent)
        if kinds == 'object':
            return self.members(schema, indent) if 'properties' in schema else 'Record<string, unknown>'
        return ' | '.join(PLAIN[one] for one in ([kinds] if isinstance(kinds, str) else kinds)) if kinds else 'unknown'

    def array(self, schema, indent):
        """A tuple, where the length is small and known."""
        item, length = self.of(schema['items'], indent), schema.get('maxItems', 0)
        if length == schema.get('minItems') and length <= 5:
            return f'[{", ".join([item] * length)}]'
        return f'({item})[]' if '|' in item else f'{item}[]'

    def members(self, schema, indent=''):
        inner, needed, text = indent + '  ', schema.get('required', ()), '{\n'
        for name, one in schema['properties'].items():
            text += comment(one.get('description'), inner) + f'{inner}{name}{"" if name in needed else "?"}: {self.of(one, inner)}\n'
        return text + indent + '}'

    def interface_of(self, name):
        schema = self.interface.schemas[name]
        return comment(schema.get('description')) + f'export interface {name} {self.members(schema)}\n'


def annotation(parameter):
    schema = parameter.schema
    if 'enum' in schema:
        return choice(schema['enum'])
    if schema['type'] == 'array':
        return 'string | readonly string[]'
    return TITLES.get(schema.get('title'), PLAIN[schema['type']])


def pascal(name):
    return ''.join(map(str.capitalize, name.split('_')))


def parameters(operation):
    text = f'/** Parameters of {operation.path}. */\nexport interface {pascal(operation.name)}Parameters {{\n'
    for one in operation.parameters:
        told = ' '.join(filter(None, (one.description, description.values(one.schema))))
        text += comment(told, '  ') + f'  {one.name}{"" if one.required else "?"}: {annotation(one)}\n'
    for name, value in operation.fixed:
        text += f'  {name}: {value}\n'
    for part in operation.parts:
        text += comment(PARTS_TEXT[part], '  ') + f'  {part}?: {PARTS[part]}\n'
    return text + '}\n'


def generate(document):
    interface = description.Description(document)
    operations = list(interface.operations())
    types = Types(interface)
    chosen = re.sub(r'\n\n\n+', '\n\n', '\n'.join(types.interface_of(name) for name in interface.reached(*SCHEMAS)))
    table = comment('Every operation that takes a picture. `answer` is what the body of an answer with status 200 is; all others are a Problem. '
                    '`redact_plan` and `redact_report` are `/redact` with that parameter; the second with `Accept: application/json`.')
    table += 'export interface Operations {\n'
    for one in operations:
        answer = ANSWERS.get(one.answer, one.answer)
        table += comment(one.summary, '  ') + f'  {one.name}: {{ path: {json.dumps(one.path)}, parameters: {pascal(one.name)}Parameters, answer: {answer} }}\n'
    return '\n'.join([HEAD.format(interface.version), table + '}\n', *map(parameters, operations), chosen])


if __name__ == '__main__':
    sys.stdout.write(generate(json.load(sys.stdin)))
