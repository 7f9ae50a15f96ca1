# SPDX-License-Identifier: MIT
"""Reads detect/faces/network.def and says how the model file is laid out; network.h and model.c do the same in C."""

import collections
import pathlib
import re

MAGIC = b'blurdfc1'
ALIGNMENT = 64
PAIR = 2  # addend_scale and offset

Layer = collections.namedtuple('Layer', 'name kind size input addend inputs outputs stride relu')


def layers():
    """All layers, with input and addend as indices: -1 is the picture, None is nothing."""
    text = (pathlib.Path(__file__).parent / 'network.def').read_text(encoding='utf-8')
    index = {'picture': -1, 'none': None}
    table = []
    for row in re.findall(r'^LAYER\((.*)\)$', text, re.MULTILINE):
        name, kind, size, source, addend, inputs, outputs, stride, activation = (word.strip() for word in row.split(','))
        index[name] = len(table)
        table.append(Layer(name, kind, int(size), index[source], index[addend], int(inputs), int(outputs), int(stride), activation == 'RELU'))
    return table


def weight_count(layer):
    """Weights of one layer: DENSE [outputs][3][3][inputs], DEPTH [3][3][outputs], POINT and HEADS [outputs][inputs],
    UP [2][2][outputs][inputs]."""
    area = {'DENSE': 9, 'DEPTH': 9, 'POINT': 1, 'UP': 4, 'HEADS': 1}[layer.kind]
    return area * layer.outputs * (1 if layer.kind == 'DEPTH' else layer.inputs)


def padded(size):
    return -(-size // ALIGNMENT) * ALIGNMENT


def arrays(layer):
    """Bytes of the arrays of a layer in the file: weights, scales, biases, addend_scale with offset."""
    return weight_count(layer), 4 * layer.outputs, 4 * layer.outputs, 4 * PAIR


def zero_point(layer):
    """What stands for 0 in the layer's output."""
    return 0 if layer.relu else 128
