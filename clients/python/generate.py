#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the modules of the Python client that follow from the description of the interface:

    blurd --help-openapi | clients/python/generate.py FOLDER

types.py has the types of parameters and answers, jobs.py a function for each operation that takes a picture, and
_operations.py the methods of both clients."""

import json
import keyword
import pathlib
import sys
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import description  # noqa: E402

HEAD = '# SPDX-License-Identifier: MIT\n# Made by clients/python/generate.py.\n"""{}"""\n\nfrom __future__ import annotations\n\n'
ANSWERS = ('Boxes', 'Statistics', 'Placeholder', 'Verdict', 'Readiness', 'Version')
GIVEN = ('RegionList', 'Envelope')
OPEN = {('Verdict', 'report')}  # has more members than the description lists
PLAIN = {'string': 'str', 'integer': 'int', 'number': 'float', 'boolean': 'bool', 'object': 'Dict[str, Any]'}
# Parameters whose text has a grammar, and which Python has better types for.
TITLES = {'a number': 'Union[float, str]', 'a size': 'Union[int, str]', 'steps': 'Union[str, Sequence[str]]'}
PARTS = {'regions': 'RegionsPart', 'mask': 'Body'}
PARTS_TEXT = {'regions': 'A list of regions: a plan, what `detect` answered, data, or JSON.', 'mask': 'A grey PNG of 8 bits and the size of the upright picture: how much of the filter a pixel gets.'}
IDS = {'request_id': 'An id for the answer and the log of the daemon.', 'traceparent': 'The trace context (W3C).'}


def literal(values):
    numbers = [int(one) for one in values if str(one).isdigit() and not isinstance(one, int)]  # angle=90
    return f'Literal[{", ".join(map(repr, [*values, *numbers]))}]'


class Types:
    """The text of types.py."""

    def __init__(self, interface):
        self.interface = interface
        self.classes = []

    def of(self, schema, owner, name):
        """The Python type of a member."""
        found, reference = self.interface.resolve(schema)
        if (owner, name) in OPEN:
            return 'Dict[str, Any]'
        kinds = found.get('type')
        if isinstance(kinds, list):
            return f'Optional[{PLAIN[kinds[0]]}]'
        if 'enum' in found:
            return literal(found['enum'])
        if 'const' in found:
            return literal([found['const']])
        if kinds == 'array':
            return f'List[{self.of(found["items"], owner, name.rstrip("s"))}]'
        if kinds == 'object' and reference:
            return reference
        if kinds == 'object' and 'properties' in found:
            made = owner + name.title()
            self.add(made, found, typed=owner in self.interface.reached(*GIVEN))
            return made
        return PLAIN.get(kinds, 'Any')

    def add(self, name, schema, typed):
        members = schema['properties']
        needed = [member for member in members if member in schema.get('required', ())]
        lines = ['', '', f'class {name}(TypedDict{"" if len(needed) == len(members) else ", total=False"}):' if typed else f'@dataclass(frozen=True)\nclass {name}:']
        text = [textwrap.fill(schema.get('description', f'{name} of an answer.' if not typed else f'{name} as JSON.'), 120)]
        text += [textwrap.fill(f'{member}: {one["description"]}', 120, subsequent_indent='    ') for member, one in members.items() if one.get('description')]
        lines.append(textwrap.indent('"""' + '\n\n'.join([text[0], '\n'.join(text[1:])]).rstrip() + '\n"""\n', '    '))
        for member in needed if not typed else members:
            lines.append(f'    {member}: {self.of(members[member], name, member)}')
        for member in members if not typed else ():
            if member not in needed:
                lines.append(f'    {member}: Optional[{self.of(members[member], name, member)}] = None')
        self.classes.append('\n'.join(lines))

    def text(self):
        for name in self.interface.reached(*ANSWERS):
            self.add(name, self.interface.schemas[name], typed=False)
        for name in self.interface.reached(*GIVEN):
            self.add(name, self.interface.schemas[name], typed=True)
        head = HEAD.format('Types of parameters and answers.') + 'from dataclasses import dataclass\nfrom typing import Any, Dict, List, Literal, Optional, TypedDict\n\n'
        choices = [f'{name} = {literal(values)}' for name, values in self.interface.choices().items()]
        problems = literal(self.interface.schemas['Problem']['properties']['type']['enum'])
        return head + '\n'.join([*choices, f'ProblemType = {problems}\n\n']) + '\n'.join(self.classes) + '\n'


def annotation(parameter):
    schema = parameter.schema
    if 'enum' in schema:
        kind = f'types.{parameter.kind}'
    elif schema['type'] == 'array':
        kind = 'Shapes'
    else:
        kind = TITLES.get(schema.get('title'), PLAIN[schema['type']])
    return kind if parameter.required else f'Optional[{kind}] = None'


def argument(name):
    """Python's words for itself get an underscore."""
    return f'{name}_' if keyword.iskeyword(name) else name


def keywords(operation, ids):
    """(name, annotation) of each keyword argument."""
    found = [(argument(one.name), annotation(one)) for one in sorted(operation.parameters, key=lambda one: not one.required)]
    found += [(part, f'Optional[{PARTS[part]}] = None') for part in operation.parts]
    return found + [(name, 'Optional[str] = None') for name in IDS if ids]


def docstring(operation, ids, indent):
    lines = [*textwrap.wrap(operation.summary, 120, break_on_hyphens=False), '']
    told = [(argument(one.name), ' '.join(filter(None, (one.description, description.values(one.schema))))) for one in operation.parameters]
    told += [(part, PARTS_TEXT[part]) for part in operation.parts] + [(name, text) for name, text in IDS.items() if ids]
    for name, text in told:
        lines += textwrap.wrap(f'{name}: {text}', 120, subsequent_indent='    ', break_long_words=False, break_on_hyphens=False)
    text = '\n'.join(lines).replace('\\', '\\\\')
    return textwrap.indent(f'"""{text}\n"""', indent)


def job(operation):
    arguments = ''.join(f'    {name}: {kind},\n' for name, kind in keywords(operation, ids=False))
    given = [f'({name!r}, {value!r})' for name, value in operation.fixed]
    given += [f'({one.name!r}, {"steps(ops)" if one.name == "ops" else argument(one.name)})' for one in operation.parameters]
    reading = {'Picture': 'read_picture', 'Plan': 'read_plan', 'Report': 'read_report'}.get(operation.answer, f'partial(read_json, types.{operation.answer})')
    parts = ''.join(f', {part}={part}' for part in operation.parts)
    answer = operation.answer if operation.answer in ('Picture', 'Plan', 'Report') else f'types.{operation.answer}'
    return (f'\n\ndef {operation.name}(\n    *,\n{arguments}) -> Job[{answer}]:\n{docstring(operation, False, "    ")}\n'
            f'    given = ({", ".join(given)})\n    return make_job({operation.path!r}, given, {reading}{parts})\n')


def method(operation, asynchronous):
    arguments = ''.join(f'        {name}: {kind},\n' for name, kind in keywords(operation, ids=True))
    passed = ''.join(f'{name}={name}, ' for name, _ in keywords(operation, ids=False))
    answer = operation.answer if operation.answer in ('Picture', 'Plan', 'Report') else f'types.{operation.answer}'
    return (f'\n    {"async " if asynchronous else ""}def {operation.name}(\n        self,\n        picture: Body,\n        *,\n{arguments}    ) -> {answer}:\n'
            f'{docstring(operation, True, "        ")}\n        job = jobs.{operation.name}({passed.rstrip(", ")})\n'
            f'        return {"await " if asynchronous else ""}self.do(job, picture, request_id=request_id, traceparent=traceparent)\n')


TYPING = 'from typing import Optional, Sequence, TypeVar, Union\n\n'


def jobs_text(operations):
    head = HEAD.format('Jobs: what is done to a picture, as data. A client does them: `client.map(jobs.blur(sigma=8), pictures)`.')
    head += 'from functools import partial\nfrom typing import Optional, Sequence, Union\n\nfrom . import types\n'
    head += 'from ._answers import Picture, Plan, Report, read_json, read_picture, read_plan, read_report\nfrom ._job import Body, Job, RegionsPart, Shapes, make_job, steps\n\n'
    names = ''.join(f'    {name!r},\n' for name in ['Job', *(operation.name for operation in operations)])
    return head + f'__all__ = [\n{names}]\n' + ''.join(map(job, operations))


def operations_text(operations):
    head = HEAD.format('The operations of both clients.') + TYPING
    head += 'from . import types\nfrom . import jobs\nfrom ._answers import Picture, Plan, Report\nfrom ._job import Body, Job, RegionsPart, Shapes\n\n'
    head += "T = TypeVar('T')\n"
    for name, asynchronous in (('Operations', False), ('AsyncOperations', True)):
        head += f'\n\nclass {name}:\n    """Each takes a picture: bytes, the path of a file, or an open file."""\n\n'
        head += f'    {"async " if asynchronous else ""}def do(self, job: Job[T], picture: Body, *, request_id: Optional[str] = None, traceparent: Optional[str] = None) -> T:\n'
        head += '        """Does a job with a picture."""\n        raise NotImplementedError\n'
        head += ''.join(method(operation, asynchronous) for operation in operations)
    return head


def generate(document):
    """{name of a module: its text}"""
    interface = description.Description(document)
    operations = list(interface.operations())
    return {'types.py': Types(interface).text(), 'jobs.py': jobs_text(operations), '_operations.py': operations_text(operations)}


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in generate(json.load(sys.stdin)).items():
        (folder / name).write_text(text, encoding='utf-8')


if __name__ == '__main__':
    main()
