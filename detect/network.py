# SPDX-License-Identifier: MIT
"""Reads detect/NAME/network.def and says how the model file is laid out; network.h, network.c and model.c do the same in C."""

import collections
import pathlib
import re

ALIGNMENT = 64
LINEAR_ZERO = 128

Layer = collections.namedtuple('Layer', 'name kind size input addend inputs outputs stride activation')

# What each detector's network is made for: the first bytes of its model file, and the mean and the deviation of a sample of
# 0 to 255 that it expects as 0 and 1.
Form = collections.namedtuple('Form', 'magic mean deviation')
FORMS = {
    'faces': Form(b'blurdfc1', (0, 0, 0), (1, 1, 1)),
    # Those of ImageNet (PP-OCR's configuration of training).
    'text': Form(b'blurdtx1', (123.675, 116.28, 103.53), (58.395, 57.12, 57.375)),
}


def layers(name):
    """All layers of a detector's network, with input and addend as indices: -1 is the picture, None is nothing."""
    text = (pathlib.Path(__file__).parent / name / 'network.def').read_text(encoding='utf-8')
    index = {'picture': -1, 'none': None}
    table = []
    for row in re.findall(r'^LAYER\((.*)\)$', text, re.MULTILINE):
        name, kind, size, source, addend, inputs, outputs, stride, activation = (word.strip() for word in row.split(','))
        index[name] = len(table)
        table.append(Layer(name, kind, int(size), index[source], index[addend], int(inputs), int(outputs), int(stride), activation))
    return table


def padded(size):
    return -(-size // ALIGNMENT) * ALIGNMENT
