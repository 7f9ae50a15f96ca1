# SPDX-License-Identifier: MIT
"""Makes detect/faces/centerface.scales: runs the network in single precision over photographs, some of which must show faces, and
takes the largest value of each layer.

    detect/faces/calibrate.py centerface.onnx PHOTOGRAPH... >detect/faces/centerface.scales

Needs NumPy and Pillow. Which choices were compared is in docs/adr/0028-faces-in-eight-bits.md."""

import sys

import numpy
from PIL import Image

import convert
import network

LONGEST = 1280
SIZES = 1, 0.5  # faces of several sizes in each photograph

# The layers whose channels have a scale each, and the reserve that these get. A depthwise layer reads them, and takes the
# scales into its own.
RESERVE = 1.2
SMALLEST = 13  # quarter octaves below the layer's own scale


def is_free(row):
    return row.name == 'stem' or row.name.endswith('_expand')


def weights_of(row, layer):
    weights = numpy.array(layer.weights, numpy.float32)
    if row.kind == 'UP':
        return weights.reshape(row.outputs, 4, row.inputs).transpose(1, 0, 2).reshape(4 * row.outputs, row.inputs)
    return weights


def windows(values, stride):
    """The nine shifted copies that a 3x3 layer reads."""
    high, wide = values.shape[0] // stride, values.shape[1] // stride
    padded = numpy.pad(values, ((1, 1), (1, 1), (0, 0)))
    return [padded[y:y + stride * high:stride, x:x + stride * wide:stride] for y in range(3) for x in range(3)]


def run_layer(row, weights, biases, values):
    if row.kind == 'UP':
        high, wide = values.shape[:2]
        sums = (values @ weights.T).reshape(high, wide, 2, 2, row.outputs)
        return sums.transpose(0, 2, 1, 3, 4).reshape(2 * high, 2 * wide, row.outputs) + biases
    if row.kind == 'DEPTH':
        return sum(part * weights[:, tap] for tap, part in enumerate(windows(values, row.stride))) + biases
    if row.kind == 'DENSE':
        parts = weights.reshape(row.outputs, 9, row.inputs)
        return sum(part @ parts[:, tap].T for tap, part in enumerate(windows(values, row.stride))) + biases
    return values @ weights.T + biases


def run(table, layers, picture, see):
    """Calls see(index, output) for each layer."""
    outputs = {-1: picture}
    last = {}
    for index, row in enumerate(table):
        last[row.input] = last[row.addend] = index
    for index, (row, (weights, biases)) in enumerate(zip(table, layers)):
        values = run_layer(row, weights, biases, outputs[row.input])
        if row.relu:
            values = numpy.maximum(values, 0)
        if row.addend is not None:
            values = values + outputs[row.addend]
        see(index, values)
        outputs[index] = values
        outputs = {name: kept for name, kept in outputs.items() if last.get(name, 0) > index}


def pictures(paths):
    for path in paths:
        picture = Image.open(path).convert('RGB')
        for size in SIZES:
            factor = size * min(1, LONGEST / max(picture.size))
            sides = [-(-int(side * factor) // 32) * 32 for side in picture.size]
            yield numpy.asarray(picture.resize(sides, Image.BILINEAR), numpy.float32)


def needed(row, high, low):
    """The smallest scale of each channel that clips nothing."""
    return numpy.maximum(high / 255 if row.relu else numpy.maximum(high / 127, -low / 128), 1e-6)


def main():
    table = network.layers()
    layers = convert.read_layers(sys.argv[1])
    convert.check(layers, table)
    layers = [(weights_of(row, layer), numpy.array(layer.biases, numpy.float32)) for row, layer in zip(table, layers)]
    scales = [numpy.zeros(row.outputs) for row in table]

    def see(index, values):
        flat = values.reshape(-1, values.shape[-1])
        scales[index] = numpy.maximum(scales[index], needed(table[index], flat.max(0), flat.min(0)))

    for picture in pictures(sys.argv[2:]):
        run(table, layers, picture, see)
    print('# Scale of the output of each layer, and how much smaller those of its channels are (detect/faces/convert.py). Made by\n'
          '# detect/faces/calibrate.py.')
    for row, scale in zip(table[:-1], scales):
        if is_free(row):
            steps = numpy.floor(-4 * numpy.log2(scale / scale.max())).clip(0, SMALLEST).astype(int)
            print(f'{row.name} {scale.max() * RESERVE:.6g}', ''.join(chr(ord('a') + step) for step in steps))
        else:
            print(f'{row.name} {scale.max():.6g}')


if __name__ == '__main__':
    main()
