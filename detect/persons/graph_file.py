# SPDX-License-Identifier: MIT
"""Reads the operators and weights of a frozen graph of TensorFlow (GraphDef): as much of it as detectors need."""

import array
import collections
import struct
import sys

from onnx_file import fields, varints

# `constant` is the shape and the values of a Const of floats; `strides` and `epsilon` are attributes of that name.
Node = collections.namedtuple('Node', 'kind inputs constant strides epsilon')
FLOAT = 1


def shape_of(data):
    return tuple(next((value for number, value in fields(item) if number == 1), 0)
                 for number, item in fields(data) if number == 2)


def constant(data):
    """Shape and values; None for what is not an array of floats."""
    shape, raw, kind = (), b'', None
    for number, item in fields(data):
        if number == 1:
            kind = item
        elif number == 2:
            shape = shape_of(item)
        elif number == 4:
            raw = item
    if kind != FLOAT:
        return None
    values = array.array('f', bytes(raw))
    if sys.byteorder == 'big':
        values.byteswap()
    return shape, values


def integers(data):
    """The integers of a list."""
    many = []
    for number, item in fields(data):
        if number == 3:
            many += [item] if isinstance(item, int) else varints(item)
    return many


def attributes(data, known):
    """Puts the value of an attribute that is needed into `known`."""
    entry = dict(fields(data))
    name, value = bytes(entry[1]).decode(), dict(fields(entry.get(2, b'')))
    if name == 'value' and 8 in value:
        known['constant'] = constant(value[8])
    elif name == 'strides' and 1 in value:
        known['strides'] = integers(value[1])
    elif name == 'epsilon' and 4 in value:
        known['epsilon'] = struct.unpack('<f', value[4])[0]


def node(data):
    """Its name, and what it is."""
    name, kind, inputs, known = '', '', [], {'constant': None, 'strides': None, 'epsilon': 0.0}
    for number, item in fields(data):
        if number == 1:
            name = bytes(item).decode()
        elif number == 2:
            kind = bytes(item).decode()
        elif number == 3:
            inputs.append(bytes(item).decode())
        elif number == 5:
            attributes(item, known)
    return name, Node(kind, inputs, **known)


def read(path):
    """The nodes by name."""
    with open(path, 'rb') as file:
        graph = memoryview(file.read())
    return dict(node(item) for number, item in fields(graph) if number == 1)
