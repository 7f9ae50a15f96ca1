# SPDX-License-Identifier: MIT
"""Reads the operators and weights of an ONNX file: as much of protocol buffers and of ONNX as detectors need."""

import array
import collections
import struct
import sys

Node = collections.namedtuple('Node', 'kind inputs outputs attributes')
Tensor = collections.namedtuple('Tensor', 'shape values')

FLOAT = 1


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def varints(data):
    """All of a packed field."""
    at, values = 0, []
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def fields(data):
    """(number, value) of each field of a message: an integer, or the bytes of a string or message."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            value, at = data[at:at + 8], at + 8
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        elif key & 7 == 5:
            value, at = data[at:at + 4], at + 4
        else:
            raise ValueError(f'a field has the wire type {key & 7}')
        yield key >> 3, value


def attribute(data):
    name, value, many = '', None, []
    for number, item in fields(data):
        if number == 1:
            name = bytes(item).decode()
        elif number == 2:
            value = struct.unpack('<f', item)[0]
        elif number == 3:
            value = item
        elif number == 8 and isinstance(item, int):
            many.append(item)
        elif number == 8:  # packed
            many += varints(item)
    return name, many or value


def node(data):
    kind, inputs, outputs, attributes = '', [], [], {}
    for number, item in fields(data):
        if number == 1:
            inputs.append(bytes(item).decode())
        elif number == 2:
            outputs.append(bytes(item).decode())
        elif number == 4:
            kind = bytes(item).decode()
        elif number == 5:
            name, value = attribute(item)
            attributes[name] = value
    return Node(kind, inputs, outputs, attributes)


def tensor(data):
    """Name and contents of an initialiser; None for contents that are not floats."""
    shape, name, raw, kind = [], '', b'', None
    for number, item in fields(data):
        if number == 1 and isinstance(item, int):
            shape.append(item)
        elif number == 1:
            shape += varints(item)
        elif number == 2:
            kind = item
        elif number in (4, 9):
            raw = item
        elif number == 8:
            name = bytes(item).decode()
    if kind != FLOAT:
        return name, None
    values = array.array('f', bytes(raw))
    if sys.byteorder == 'big':
        values.byteswap()
    return name, Tensor(tuple(shape), values)


def read(path):
    """The nodes in their order, and the initialisers by name."""
    with open(path, 'rb') as file:
        model = memoryview(file.read())
    graph = next(value for number, value in fields(model) if number == 7)
    nodes, tensors = [], {}
    for number, item in fields(graph):
        if number == 1:
            nodes.append(node(item))
        elif number == 5:
            name, value = tensor(item)
            tensors[name] = value
    return nodes, tensors
