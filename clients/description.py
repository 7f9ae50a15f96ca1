# SPDX-License-Identifier: MIT
"""Reads the description of the interface, which `blurd --help-openapi` prints, for the generators of clients beside this file."""

import collections

# name of a method, path, summary, parameters, parts of a form beside the picture, fixed parameters, type of the answer
Operation = collections.namedtuple('Operation', 'name path summary parameters parts fixed answer')
Parameter = collections.namedtuple('Parameter', 'name kind schema description required')

# The description does not tell which parameters an operation cannot do without.
REQUIRED = {('pipeline', 'ops')}
# What these parameters turn an answer into gets a method of its own: an answer has one type then.
VARIANTS = {'plan': 'Plan', 'report': 'Report'}
PARTS = ('regions', 'mask')


class Description:
    def __init__(self, document):
        self.document = document
        self.schemas = document['components']['schemas']
        self.version = document['info']['version']

    def resolve(self, item):
        """What a reference names, and its name."""
        name = None
        while '$ref' in item:
            *path, name = item['$ref'].lstrip('#/').split('/')
            item = self.document
            for step in (*path, name):
                item = item[step]
        return item, name

    def parameter(self, operation, item):
        found, _ = self.resolve(item)
        schema, kind = self.resolve(found['schema'])
        return Parameter(found['name'], kind, schema, found.get('description', ''), (operation, found['name']) in REQUIRED)

    def answer(self, content):
        """The type of the answer: a picture, or the name of a schema."""
        if any(kind.startswith('image/') for kind in content):
            return 'Picture'
        return self.resolve(content['application/json']['schema'])[1]

    def operations(self):
        """Each operation that takes a picture; those that answer differently with a parameter come once for each."""
        for path, item in self.document['paths'].items():
            post = item.get('post')
            if not post or 'image/jpeg' not in post['requestBody']['content']:
                continue
            name = post['operationId']
            every = [self.parameter(name, one) for one in post['parameters']]
            every = [one for one in every if one.kind]  # headers have no schema with a name
            usual = [one for one in every if one.name not in VARIANTS]
            form = post['requestBody']['content']['multipart/form-data']['schema']['properties']
            parts = [part for part in PARTS if part in form]
            answer = self.answer(post['responses']['200']['content'])
            yield Operation(name, path, post['summary'], usual, parts, (), answer)
            for one in every:
                if one.name in VARIANTS:
                    yield Operation(f'{name}_{one.name}', path, one.description, usual, parts, ((one.name, 'true'),), VARIANTS[one.name])

    def choices(self):
        """{name of a type: its values} of all parameters that are chosen from a list."""
        found = {}
        for operation in self.operations():
            found.update({one.kind: one.schema['enum'] for one in operation.parameters if 'enum' in one.schema})
        return dict(sorted(found.items()))

    def reached(self, *names):
        """The names of these schemas and of all that they refer to, objects only."""
        found, left = set(), list(names)
        while left:
            name = left.pop()
            if name not in found and self.schemas[name].get('type') == 'object':
                found.add(name)
                left += references(self.schemas[name])
        return sorted(found)


def references(item):
    """The names of all schemas that a part of the document refers to."""
    if isinstance(item, list):
        return [name for one in item for name in references(one)]
    if not isinstance(item, dict):
        return []
    own = [item['$ref'].rpartition('/')[2]] if str(item.get('$ref', '')).startswith('#/components/schemas/') else []
    return own + [name for one in item.values() for name in references(one)]


def values(schema):
    """In words: the values of a parameter and what holds without it."""
    words = []
    if 'minimum' in schema and 'maximum' in schema:
        words.append(f'from {schema["minimum"]} to {schema["maximum"]}')
    if 'items' in schema:
        words.append(f'up to {schema["maxItems"]}')
    example = schema.get('items', schema).get('examples')
    if example:
        words.append(f'such as {example[0]}')
    default = schema.get('default', schema.get('x-default'))
    if default is not None:
        words.append('without it ' + (str(default).lower() if isinstance(default, bool) else str(default)))
    text = '; '.join(words)
    return text[:1].upper() + text[1:] + '.' if text else ''
