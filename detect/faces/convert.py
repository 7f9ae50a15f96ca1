# SPDX-License-Identifier: MIT
"""Makes the model file that the daemon reads (detect/model.h) from CenterFace in ONNX:

    detect/faces/convert.py centerface.onnx detect/faces/centerface.scales OUTPUT

Weights become 8-bit integers with one scale for each output channel, and the scales of what flows between layers
come from detect/faces/centerface.scales. Needs Python alone. The same input gives the same bytes."""

import math
import os
import struct
import sys
import zlib

import network
import onnx_file

LARGEST = 127  # of a weight
SUM_LIMIT = 2**31 - 1
QUARTERS = 1.0, 0.8408964152537145, 0.7071067811865476, 0.5946035575013605  # of an octave; pow() may differ between hosts


class Wrong(Exception):
    """The ONNX file is not the network of detect/faces/network.def."""


def taps(kind, shape, values):
    """The weights of a convolution as a list for each output channel of (place in the file's order, value), where places
    count within the channel: [ky][kx][input]."""
    if kind == 'UP':
        inputs, outputs, high, wide = shape
        index = lambda o, i, y, x: ((i * outputs + o) * high + y) * wide + x
    else:
        outputs, inputs, high, wide = shape
        index = lambda o, i, y, x: ((o * inputs + i) * high + y) * wide + x
    return [[values[index(o, i, y, x)] for y in range(high) for x in range(wide) for i in range(inputs)]
            for o in range(outputs)]


class Float:
    """A layer as the ONNX file has it: weights of each output channel, biases, what it reads."""

    def __init__(self, kind, source, weights, biases, stride):
        self.kind, self.source, self.weights, self.biases, self.stride = kind, source, weights, biases, stride
        self.relu = False
        self.addend = None

    def normalise(self, gain, shift, mean, variance, epsilon):
        for o, row in enumerate(self.weights):
            factor = gain[o] / math.sqrt(variance[o] + epsilon)
            self.weights[o] = [weight * factor for weight in row]
            self.biases[o] = (self.biases[o] - mean[o]) * factor + shift[o]


def convolution(node, tensors, sources):
    shape, values = tensors[node.inputs[1]]
    if node.kind == 'ConvTranspose':
        kind, outputs = 'UP', shape[1]
    else:
        kind, outputs = {3: 'DENSE', 1: 'POINT'}[shape[2]], shape[0]
        if node.attributes['group'] > 1:
            kind = 'DEPTH'
    biases = list(tensors[node.inputs[2]].values) if len(node.inputs) > 2 else [0.0] * outputs
    return Float(kind, sources[node.inputs[0]], taps(kind, shape, values), biases, node.attributes['strides'][0])


def read_layers(path):
    """The layers of an ONNX file; its four heads become one layer."""
    nodes, tensors = onnx_file.read(path)
    layers, sources = [], {nodes[0].inputs[0]: -1}
    for node in nodes:
        if node.kind in ('Conv', 'ConvTranspose'):
            layers.append(convolution(node, tensors, sources))
        elif node.kind == 'BatchNormalization':
            layers[sources[node.inputs[0]]].normalise(*(tensors[name].values for name in node.inputs[1:]), node.attributes['epsilon'])
        elif node.kind == 'Relu':
            layers[sources[node.inputs[0]]].relu = True
        elif node.kind == 'Add':
            first, second = sorted(sources[name] for name in node.inputs)
            layers[second].addend = first
        elif node.kind != 'Sigmoid':
            raise Wrong(f'{node.kind} is not a part of CenterFace')
        sources[node.outputs[0]] = len(layers) - 1 if node.kind != 'Relu' else sources[node.inputs[0]]
    heads = layers[-4:]
    layers[-4:] = [Float('HEADS', heads[0].source, sum((head.weights for head in heads), []), sum((head.biases for head in heads), []), 1)]
    if any(head.source != heads[0].source or head.kind != 'POINT' for head in heads):
        raise Wrong('the last four convolutions are not its heads')
    return layers


def check(layers, table):
    if len(layers) != len(table):
        raise Wrong(f'it has {len(layers)} layers instead of {len(table)}')
    for layer, row in zip(layers, table):
        found = layer.kind, layer.source, layer.addend, len(layer.biases), layer.stride, layer.relu
        wanted = row.kind, row.input, row.addend, row.outputs, row.stride, row.relu
        if found != wanted or sum(map(len, layer.weights)) != network.weight_count(row):
            raise Wrong(f'layer {row.name} is {found} instead of {wanted}')


def read_scales(path, table):
    """The scales of each layer's output channels: lines of a name, a number and, where channels differ, a letter for each
    channel: `a` is the number itself, and each later letter a quarter of an octave less."""
    outputs = {row.name: row.outputs for row in table}
    scales = {'heads': [1.0] * outputs['heads']}  # their sums stay as they are
    with open(path, encoding='utf-8') as file:
        for name, number, *letters in (line.split() for line in file if not line.startswith('#')):
            steps = [ord(letter) - ord('a') for letter in letters[0]] if letters else [0] * outputs[name]
            scales[name] = [float(number) * QUARTERS[step % 4] / 2 ** (step // 4) for step in steps]
    if any(len(scales.get(row.name, ())) != row.outputs for row in table):
        raise Wrong(f'{path} does not have a scale for each channel')
    return scales


def quantise(row, layer, scale_in, scale_out, zero_in):
    """Weights, scales and biases of a layer as integers and floats. The scales of the input go into the weights."""
    weights, scales, biases = [], [], []
    for o, (values, bias) in enumerate(zip(layer.weights, layer.biases)):
        factors = [scale_in[o]] if row.kind == 'DEPTH' else scale_in
        values = [value * factors[i % len(factors)] for i, value in enumerate(values)]
        # No scale so small that the bias would not fit.
        scale = max(max(map(abs, values)) / LARGEST, abs(bias) / 2**29, 1e-12)
        quantised = [round(value / scale) for value in values]
        whole = round(bias / scale) - zero_in * sum(quantised)
        if abs(whole) + 255 * sum(map(abs, quantised)) > SUM_LIMIT:
            raise Wrong(f'the sums of layer {row.name} do not fit into 32 bits')
        weights.append(quantised)
        scales.append(scale / scale_out[o])
        biases.append(whole)
    return weights, scales, biases


def addend_scale(row, scales, table):
    """What a step of the addend is in steps of the output: one number, so channels must not differ there."""
    if row.addend is None:
        return 0.0
    both = set(scales[row.name]) | set(scales[table[row.addend].name])
    if len(both) > 2:
        raise Wrong(f'layer {row.name} or its addend has scales for each channel')
    return scales[table[row.addend].name][0] / scales[row.name][0]


def in_order(row, weights):
    """The weights of a layer in the order of the file."""
    if row.kind in ('DEPTH', 'UP'):
        group = 1 if row.kind == 'DEPTH' else row.inputs
        return [value for tap in range(0, len(weights[0]), group) for channel in weights for value in channel[tap:tap + group]]
    return [value for channel in weights for value in channel]


def convert(layers, table, scales):
    """The bytes of the model file."""
    parts = [network.MAGIC]
    zero = {-1: 0, None: 0, **{i: network.zero_point(row) for i, row in enumerate(table)}}
    scale = {-1: [1.0] * 3, **{i: scales[row.name] for i, row in enumerate(table)}}
    for i, (row, layer) in enumerate(zip(table, layers)):
        weights, factors, biases = quantise(row, layer, scale[row.input], scale[i], zero[row.input])
        added = addend_scale(row, scales, table)
        offset = 0.0 if row.kind == 'HEADS' else zero[i] - zero[row.addend] * added
        for form, values in (('b', in_order(row, weights)), ('f', factors), ('i', biases), ('f', (added, offset))):
            parts.append(struct.pack(f'<{len(values)}{form}', *values))
    body = b''.join(part.ljust(network.padded(len(part)), b'\0') for part in parts)
    return body + struct.pack('<I', zlib.crc32(body)).ljust(network.ALIGNMENT, b'\0')


def main():
    source, scales, target = sys.argv[1:]
    table = network.layers()
    try:
        layers = read_layers(source)
        check(layers, table)
        data = convert(layers, table, read_scales(scales, table))
    except Wrong as wrong:
        sys.exit(f'{source}: {wrong}')
    with open(target + '.new', 'wb') as out:
        out.write(data)
    os.replace(target + '.new', target)


if __name__ == '__main__':
    main()
