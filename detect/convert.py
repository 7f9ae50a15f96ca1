# SPDX-License-Identifier: MIT
"""Makes the model file that the daemon reads (detect/model.h) from a network in ONNX, or in a frozen graph of TensorFlow:

    detect/convert.py NAME NETWORK detect/NAME/MODEL.scales OUTPUT

Weights become 8-bit integers with one scale for each output channel, and the scales of what flows between layers come from the
file that detect/calibrate.py makes. The layers of a head (detect/network.py) are copied from its file, whose SHA-256 stands
beside it. Needs Python alone. The same input gives the same bytes."""

import hashlib
import math
import os
import pathlib
import struct
import sys
import zlib

import network
import onnx_layers
from onnx_layers import Wrong
from persons import graph_layers

LARGEST = 127  # of a weight
SUM_LIMIT = 2**31 - 1
QUARTERS = 1.0, 0.8408964152537145, 0.7071067811865476, 0.5946035575013605  # of an octave; pow() may differ between hosts
MAP_SCALE = 1 / 16  # of the logits of a map, or of scores: bytes reach from -8 to 7.9
PLACE_SCALE = 1 / 10  # of the places of boxes, which anchors.h knows, too


class Scale:
    """What a step of a layer's output is, for each channel, and the byte that stands for 0. Before an activation table, the
    same of its index."""

    def __init__(self, steps, zero, table_step=None, table_zero=None):
        self.steps, self.zero, self.table_step, self.table_zero = steps, zero, table_step, table_zero


def gelu(value):
    """Hendrycks and Gimpel, 2016."""
    return value * (1 + math.erf(value / math.sqrt(2))) / 2


def clamp(value):
    return min(max(round(value), 0), 255)


def read_scales(paths, table):
    """The scales of each layer's output channels: lines of a name, a number and, where channels differ, a letter for each
    channel: `a` is the number itself, and each later letter a quarter of an octave less. Behind the number of a layer with a
    table stand the least and the largest value that the table knows. A table with a head has a file for each part."""
    lines = {}
    for path in paths:
        with open(path, encoding='utf-8') as file:
            lines.update({line.split()[0]: line.split()[1:] for line in file if not line.startswith('#')})
    scales = {-1: Scale([1.0] * 3, 0)}
    results = network.results(table)
    known = known_steps(table, results)
    for i, row in enumerate(table):
        if row.kind == 'CONCAT':
            if scales[row.input].zero != scales[row.addend].zero:
                raise Wrong(f'layer {row.name} joins outputs with different zeros')
            scales[i] = Scale(scales[row.input].steps + scales[row.addend].steps, scales[row.input].zero)
        elif row.kind == 'POOL':
            scales[i] = scales[row.input]
        elif row.kind == 'HEADS':
            scales[i] = Scale([1.0] * row.outputs, 0)  # their sums stay as they are
        elif i in known:
            scales[i] = Scale([known[i]] * row.outputs, network.LINEAR_ZERO)
        elif row.name not in lines:
            raise Wrong(f'{paths[-1]} does not have a scale for layer {row.name}')
        else:
            scales[i] = read_scale(row, lines[row.name])
        if len(scales[i].steps) != row.outputs:
            raise Wrong(f'layer {row.name} does not have a scale for each channel')
    return scales


def known_steps(table, results):
    """By the index of a layer: the step of a map, and of what the cells of anchors are made of, scores and places."""
    steps = {}
    for i in results:
        row = table[i]
        steps.update({row.input: MAP_SCALE, row.addend: PLACE_SCALE} if row.kind == 'CONCAT' else {i: MAP_SCALE})
    return steps


def read_scale(row, words):
    number = float(words[0])
    if row.activation == 'TABLE':
        low, high = float(words[1]), float(words[2])
        step = (high - low) / 255
        return Scale([number] * row.outputs, clamp(-gelu(-0.7518) / number), step, clamp(-low / step))
    steps = [ord(letter) - ord('a') for letter in words[1]] if len(words) > 1 else [0] * row.outputs
    zero = 0 if row.activation == 'RELU' else network.LINEAR_ZERO
    return Scale([number * QUARTERS[step % 4] / 2 ** (step // 4) for step in steps], zero)


def normalised(form, layer):
    """Weights and biases of a layer that reads samples of 0 to 255 in place of normalised ones."""
    weights = [[weight / form.deviation[i % 3] for i, weight in enumerate(row)] for row in layer.weights]
    biases = [bias - sum(weight * form.mean[i % 3] for i, weight in enumerate(row)) for bias, row in zip(layer.biases, weights)]
    return weights, biases


def quantise(row, weights, biases, source, step_out):
    """Weights, scales and biases of a layer as integers and floats. The scales of the input go into the weights."""
    quantised, scales, wholes = [], [], []
    for o, (values, bias) in enumerate(zip(weights, biases)):
        factors = [source.steps[o]] if row.kind == 'DEPTH' else source.steps
        values = [value * factors[i % len(factors)] for i, value in enumerate(values)]
        # No scale so small that the bias would not fit.
        scale = max(max(map(abs, values)) / LARGEST, abs(bias) / 2**29, 1e-12)
        integers = [round(value / scale) for value in values]
        whole = round(bias / scale) - source.zero * sum(integers)
        if abs(whole) + 255 * sum(map(abs, integers)) > SUM_LIMIT:
            raise Wrong(f'the sums of layer {row.name} do not fit into 32 bits')
        quantised.append(integers)
        scales.append(scale / step_out[o])
        wholes.append(whole)
    if row.kind == 'UP' and source.zero:
        raise Wrong(f'layer {row.name} enlarges what has another zero than 0')
    return quantised, scales, wholes


def in_order(row, weights):
    """The weights of a layer in the order of the file."""
    if row.kind in ('DEPTH', 'UP'):
        group = 1 if row.kind == 'DEPTH' else row.inputs
        return [value for tap in range(0, len(weights[0]), group) for channel in weights for value in channel[tap:tap + group]]
    return [value for channel in weights for value in channel]


def weighted_arrays(row, layer, form, source, step_out):
    weights, biases = normalised(form, layer) if row.input < 0 else (layer.weights, layer.biases)
    integers, factors, wholes = quantise(row, weights, biases, source, step_out)
    return [('b', in_order(row, integers)), ('f', factors), ('i', wholes)]


def excite_arrays(layer, source):
    """The scale and the zero of the input go into the first product, the hard sigmoid into the second."""
    (reduce, reduce_biases), (expand, expand_biases) = layer.steps
    step = source.steps[0]
    first = [weight * step for row in reduce for weight in row]
    first_biases = [bias - step * source.zero * sum(row) for row, bias in zip(reduce, reduce_biases)]
    second = [weight * layer.slope for row in expand for weight in row]
    return [('f', first), ('f', first_biases), ('f', second), ('f', [bias * layer.slope + layer.shift for bias in expand_biases])]


def one_step(row, scale):
    """What all channels have in common."""
    if len(set(scale.steps)) > 1:
        raise Wrong(f'layer {row.name} or its addend has scales for each channel')
    return scale.steps[0]


def arrays(index, table, layer, scales, form):
    """The arrays of a layer, in the order of enum model_array."""
    row, scale, source = table[index], scales[index], scales[table[index].input]
    if row.kind in ('POOL', 'CONCAT'):
        return []
    step_out = [scale.table_step or step for step in scale.steps]
    zero = scale.zero if scale.table_step is None else scale.table_zero
    added, offset = 0.0, float(zero)
    if row.addend is not None:
        added = one_step(row, scales[row.addend]) / one_step(row, scale)
        offset -= scales[row.addend].zero * added
    terms = [added, 0.0 if row.kind == 'HEADS' else offset]
    if row.kind == 'EXCITE':
        return excite_arrays(layer, source) + [('f', terms + [one_step(row, source) / one_step(row, scale), layer.base])]
    made = weighted_arrays(row, layer, form, source, step_out) + [('f', terms)]
    if row.activation == 'TABLE':
        values = [gelu((byte - scale.table_zero) * scale.table_step) for byte in range(256)]
        made.append(('B', [clamp(value / scale.steps[0] + scale.zero) for value in values]))
    return made


def sealed(body):
    return body + struct.pack('<I', zlib.crc32(body)).ljust(network.ALIGNMENT, b'\0')


def convert(form, layers, table, scales):
    """The bytes of the model file of layers with which the table ends."""
    parts = [form.magic]
    for index, layer in enumerate(layers, len(table) - len(layers)):
        for kind, values in arrays(index, table, layer, scales, form):
            parts.append(struct.pack(f'<{len(values)}{kind}', *values))
    return sealed(b''.join(part.ljust(network.padded(len(part)), b'\0') for part in parts))


def head_file(table, layers, scales, name='plates'):
    """The bytes of a head's file. `table` is that of network.layers(body, head), `scales` are those of read_scales for all of
    it, and `layers` the head's: an onnx_layers.Layer for each of its rows, of which CONCAT has no weights."""
    return convert(network.FORMS[name], layers, table, scales)


def read_head(name, rows):
    """The arrays of a head's file, if it is the one that was meant, and has those of the rows."""
    folder = pathlib.Path(__file__).parent / name
    path = folder / f'{name}.head'
    try:
        data, meant = path.read_bytes(), (folder / f'{name}.sha256').read_text(encoding='utf-8').split()[0]
    except OSError as error:
        raise Wrong(f'the layers of {name} are missing: {error}') from error
    if hashlib.sha256(data).hexdigest() != meant:
        raise Wrong(f'{path} does not have the SHA-256 of {name}.sha256')
    arrays_of = data[network.ALIGNMENT:-network.ALIGNMENT]
    whole = network.FORMS[name].magic.ljust(network.ALIGNMENT, b'\0') + arrays_of
    if len(arrays_of) != sum(map(network.size_of_weighted, rows)) or data != sealed(whole):
        raise Wrong(f'{path} does not have the layers of {name}/network.def')
    return arrays_of


def read_layers(source, table):
    """The layers of a network in single precision."""
    return (graph_layers if source.endswith('.pb') else onnx_layers).read(source, table)


def model_file(name, source, scales):
    """The bytes of the model file of a network and its head."""
    form, table = network.FORMS[name], network.layers(name)
    data = convert(form, read_layers(source, table), table, read_scales([scales], table))
    if form.head:
        data = sealed(data[:-network.ALIGNMENT] + read_head(form.head, network.layers(name, form.head)[len(table):]))
    return data


def main():
    name, source, scales, target = sys.argv[1:]
    try:
        data = model_file(name, source, scales)
    except Wrong as wrong:
        sys.exit(f'{source}: {wrong}')
    with open(target + '.new', 'wb') as out:
        out.write(data)
    os.replace(target + '.new', target)


if __name__ == '__main__':
    main()
