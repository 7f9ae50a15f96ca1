# SPDX-License-Identifier: MIT
"""Makes detect/NAME/*.scales: runs a network in single precision over pictures, some of which must show what it finds, and
takes the largest value of each layer.

    detect/calibrate.py NAME NETWORK PICTURE... >detect/NAME/MODEL.scales

Needs NumPy and Pillow. Which choices were compared for faces is in docs/adr/0028-faces-in-eight-bits.md."""

import sys

import numpy
from PIL import Image

import convert
import network

LONGEST = 1280
# Parts of the size: faces and persons of several sizes in each photograph.
SIZES = {'faces': (1, 0.5), 'persons': (1, 0.5, 0.25, 0.125)}

# The layers of CenterFace whose channels have a scale each, and the reserve that these get. A depthwise layer reads them, and
# takes the scales into its own.
RESERVE = 1.2
SMALLEST = 13  # quarter octaves below the layer's own scale

# Below it GELU is within 0.001 of 0: bytes need not tell such values apart.
GELU_LOW = -3.5
GELU_LEAST = -0.17  # its smallest value


def erf(values):
    """Within 1.5e-7 (Abramowitz and Stegun, 7.1.26)."""
    t = 1 / (1 + 0.3275911 * numpy.abs(values))
    poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return numpy.sign(values) * (1 - poly * numpy.exp(-values * values))


def has_scale_per_channel(name, row):
    return name == 'faces' and (row.name == 'stem' or row.name.endswith('_expand'))


def weights_of(row, layer):
    weights = numpy.array(layer.weights, numpy.float32)
    if row.kind == 'UP':
        return weights.reshape(row.outputs, 4, row.inputs).transpose(1, 0, 2).reshape(4 * row.outputs, row.inputs)
    return weights


def windows(values, size, stride):
    """The shifted copies that a layer reads."""
    high, wide = values.shape[0] // stride, values.shape[1] // stride
    padded = numpy.pad(values, ((size // 2, size // 2), (size // 2, size // 2), (0, 0)))
    return [padded[y:y + stride * high:stride, x:x + stride * wide:stride] for y in range(size) for x in range(size)]


def enlarged(values, like):
    return values if values.shape[:2] == like else values.repeat(2, 0).repeat(2, 1)


def weighted(row, layer, values):
    weights, biases = weights_of(row, layer), numpy.array(layer.biases, numpy.float32)
    if row.kind == 'UP':
        high, wide = values.shape[:2]
        sums = (values @ weights.T).reshape(high, wide, 2, 2, row.outputs)
        return sums.transpose(0, 2, 1, 3, 4).reshape(2 * high, 2 * wide, row.outputs) + biases
    if row.kind == 'DEPTH':
        return sum(part * weights[:, tap] for tap, part in enumerate(windows(values, row.size, row.stride))) + biases
    if row.kind == 'DENSE':
        parts = weights.reshape(row.outputs, 9, row.inputs)
        return sum(part @ parts[:, tap].T for tap, part in enumerate(windows(values, 3, row.stride))) + biases
    return values @ weights.T + biases


def excited(layer, values):
    value = values.mean((0, 1))
    for number, (weights, biases) in enumerate(layer.steps):
        value = numpy.array(weights) @ value + numpy.array(biases)
        value = numpy.maximum(value, 0) if number == 0 else numpy.clip(value * layer.slope + layer.shift, 0, 1)
    return values * (value + layer.base)


def pooled(values):
    padded = numpy.pad(values, ((0, 1), (0, 1), (0, 0)), constant_values=-numpy.inf)
    return numpy.maximum(numpy.maximum(padded[:-1, :-1], padded[1:, :-1]), numpy.maximum(padded[:-1, 1:], padded[1:, 1:]))


def run_layer(row, layer, values, addend, see):
    if row.kind == 'POOL':
        return pooled(values)
    if row.kind == 'CONCAT':
        return numpy.concatenate([enlarged(values, addend.shape[:2]), addend], 2)
    values = excited(layer, values) if row.kind == 'EXCITE' else weighted(row, layer, values)
    see(values)
    if row.activation == 'RELU':
        values = numpy.clip(values, 0, layer.limit)
    elif row.activation == 'TABLE':
        values = values * (1 + erf(values / numpy.sqrt(2))) / 2
    return (values if addend is None else values + enlarged(addend, values.shape[:2])).astype(numpy.float32)


def run(table, layers, picture, see_before, see):
    """Calls see_before(index, value) with what goes into each activation, and see(index, output) for each layer."""
    outputs = {-1: picture}
    last = {}
    for index, row in enumerate(table):
        last[row.input] = last[row.addend] = index
    for index, (row, layer) in enumerate(zip(table, layers)):
        values = run_layer(row, layer, outputs[row.input], outputs.get(row.addend), lambda before: see_before(index, before))
        see(index, values)
        outputs[index] = values
        outputs = {name: kept for name, kept in outputs.items() if last.get(name, 0) > index}


def pictures(name, paths):
    for path in paths:
        picture = Image.open(path).convert('RGB')
        for size in SIZES.get(name, (1,)):
            factor = size * min(1, LONGEST / max(picture.size))
            sides = [-(-int(side * factor) // 32) * 32 for side in picture.size]
            yield numpy.asarray(picture.resize(sides, Image.BILINEAR), numpy.float32)


def needed(row, high, low):
    """The smallest scale of each channel that clips nothing."""
    if row.activation == 'TABLE':
        return numpy.maximum((high - GELU_LEAST) / 255, 1e-6)
    return numpy.maximum(high / 255 if row.activation == 'RELU' else numpy.maximum(high / 127, -low / 128), 1e-6)


def describe(name, row, scale, before):
    if row.activation == 'TABLE':
        return f'{row.name} {scale.max():.6g} {max(before[0], GELU_LOW):.6g} {before[1]:.6g}'
    if not has_scale_per_channel(name, row):
        return f'{row.name} {scale.max():.6g}'
    steps = numpy.floor(-4 * numpy.log2(scale / scale.max())).clip(0, SMALLEST).astype(int)
    return f'{row.name} {scale.max() * RESERVE:.6g} ' + ''.join(chr(ord('a') + step) for step in steps)


def main():
    name, source, *paths = sys.argv[1:]
    table = network.layers(name)
    layers = convert.read_layers(source, table)
    layers[0].weights, layers[0].biases = convert.normalised(network.FORMS[name], layers[0])
    known = {**convert.known_steps(table, network.results(table)), len(table) - 1: None}
    scales = [numpy.zeros(row.outputs) for row in table]
    ranges = [[numpy.inf, -numpy.inf] for row in table]

    def see_before(index, values):
        ranges[index] = [min(ranges[index][0], values.min()), max(ranges[index][1], values.max())]

    def see(index, values):
        flat = values.reshape(-1, values.shape[-1])
        if layers[index].limit < numpy.inf:  # the largest byte stands for it
            flat = numpy.full_like(flat, layers[index].limit)
        scales[index] = numpy.maximum(scales[index], needed(table[index], flat.max(0), flat.min(0)))

    for picture in pictures(name, paths):
        run(table, layers, picture, see_before, see)
    print('# Scale of the output of each layer, and how much smaller those of its channels are (detect/convert.py). Made by\n'
          '# detect/calibrate.py.')
    for index, (row, scale, before) in enumerate(zip(table, scales, ranges)):
        if row.kind not in ('POOL', 'CONCAT') and index not in known:
            print(describe(name, row, scale, before))


if __name__ == '__main__':
    main()
