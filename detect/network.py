# SPDX-License-Identifier: MIT
"""Reads detect/NAME/network.def and says how the model file is laid out; network.h, network.c and model.c do the same in C."""

import collections
import pathlib
import re

ALIGNMENT = 64
LINEAR_ZERO = 128

Layer = collections.namedtuple('Layer', 'name kind size input addend inputs outputs stride activation')

# What each detector's network is made for: the first bytes of its model file, the mean and the deviation of a sample of 0 to
# 255 that it expects as 0 and 1, and the folder of the head that its model file has, too: layers that were trained here, which
# read what the network makes. A head's file has its layers alone, in the same form.
Form = collections.namedtuple('Form', 'magic mean deviation head')
FORMS = {
    'faces': Form(b'blurdfc1', (0, 0, 0), (1, 1, 1), None),
    # Those of ImageNet (PP-OCR's configuration of training).
    'text': Form(b'blurdtx2', (123.675, 116.28, 103.53), (58.395, 57.12, 57.375), 'plates'),
    'plates': Form(b'blurdpl1', None, None, None),
    'persons': Form(b'blurdps1', (127.5,) * 3, (127.5,) * 3, None),
}


def layers(*names):
    """All layers of a detector's network and, behind them, of the head that reads them, with input and addend as indices: -1 is
    the picture, None is nothing."""
    folder = pathlib.Path(__file__).parent
    text = ''.join((folder / name / 'network.def').read_text(encoding='utf-8') for name in names)
    index = {'picture': -1, 'none': None}
    table = []
    for row in re.findall(r'^LAYER\((.*)\)$', text, re.MULTILINE):
        name, kind, size, source, addend, inputs, outputs, stride, activation = (word.strip() for word in row.split(','))
        index[name] = len(table)
        table.append(Layer(name, kind, int(size), index[source], index[addend], int(inputs), int(outputs), int(stride), activation))
    return table


def results(table):
    """Indices of the layers that no other one reads."""
    return set(range(len(table))) - {row.input for row in table} - {row.addend for row in table}


def padded(size):
    return -(-size // ALIGNMENT) * ALIGNMENT


def size_of_weighted(row):
    """Bytes in the model file of a layer that only has weights, scales, biases and terms."""
    weights = row.size * row.size * row.outputs * (1 if row.kind == 'DEPTH' else row.inputs)
    return 0 if row.kind in ('POOL', 'CONCAT') else padded(weights) + 2 * padded(4 * row.outputs) + padded(8)
