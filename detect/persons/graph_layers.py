# SPDX-License-Identifier: MIT
"""The layers of SSDLite with MobileNetV2 in a frozen graph of TensorFlow, in single precision (detect/persons/network.def).

Two things of the table are not in the graph. The layer with 1280 channels is cut into halves of its channels, since fewer go
into a sum (cpu/detect/detect_tensors.c): what reads it becomes two products, of which the second adds the first. Of the two
classes of an anchor only the person is left, as its score is a sigmoid; and the scores of a cell are filled up to a multiple of
four, with outputs that are always 0."""

import re

from onnx_layers import Layer, Wrong, check
from persons import graph_file

BODY = 'FeatureExtractor/MobilenetV2/'
HEADS = {'16': 'BoxPredictor_0/', '32': 'BoxPredictor_1/'}
PARTS = {'score': 'ClassPredictor', 'place': 'BoxEncodingPredictor'}
SIX = 6.0  # the most that ReLU6 lets through
CLASSES = 2  # background, person
NEVER = -1000.0  # a logit


def scope_of(name):
    """The name of a row's scope in the graph."""
    head = re.fullmatch(r'(score|place)(16|32)(_depth)?(?:_[ab])?', name)
    if head:
        return HEADS[head[2]] + PARTS[head[1]] + ('_depthwise' if head[3] else '')
    if re.fullmatch('last_[ab]', name):
        return BODY + 'Conv_1'
    if name == 'stem':
        return BODY + 'Conv'
    block, part = name.split('_')
    number = '' if block == 'first' else '_' + block.removeprefix('block')
    return f'{BODY}expanded_conv{number}/' + ('depthwise' if part == 'depth' else part)


def half_of(row):
    """Which half of the channels a row has or reads: 0, 1; None: all."""
    return 'ab'.index(row.name[-1]) if row.name[-2:] in ('_a', '_b') else 1 if row.name in ('score32', 'place32') else None


class Reader:
    def __init__(self, path):
        self.nodes = graph_file.read(path)

    def convolution(self, scope):
        for name in (scope + '/Conv2D', scope + '/depthwise'):
            if name in self.nodes:
                return name
        raise Wrong(f'there is no layer {scope}')

    def made_by(self, name):
        """The convolution whose result comes to a node, or the later one of an addition, or the picture."""
        while (node := self.nodes[name]).kind in ('Identity', 'Relu6', 'FusedBatchNorm', 'BiasAdd', 'Add'):
            name = node.inputs[0]
        return name

    def values(self, name):
        while self.nodes[name].kind == 'Identity':
            name = self.nodes[name].inputs[0]
        return self.nodes[name].constant

    def layer(self, row):
        """The whole layer that a row is, or is half of."""
        scope = scope_of(row.name)
        name = self.convolution(scope)
        node = self.nodes[name]
        (high, wide, inputs, outputs), values = self.values(node.inputs[1])
        depth = node.kind == 'DepthwiseConv2dNative'
        outputs *= inputs if depth else 1
        layer = Layer('DEPTH' if depth else 'POINT' if high == 1 else 'DENSE', None, inputs, outputs, high, node.strides[1],
                      [list(values[o::outputs]) for o in range(outputs)], [0.0] * outputs)
        if high != wide:
            raise Wrong(f'layer {row.name} has a window that is no square')
        self.finish(scope, layer)
        return layer

    def finish(self, scope, layer):
        norm = self.nodes.get(scope + '/BatchNorm/FusedBatchNorm')
        if norm:
            gain, shift, mean, variance = (self.values(name)[1] for name in norm.inputs[1:5])
            layer.normalise(gain, shift, mean, variance, norm.epsilon)
        else:
            layer.biases = list(self.values(scope + '/biases')[1])
        if scope + '/Relu6' in self.nodes:
            layer.activation, layer.limit = 'RELU', SIX

    def check_input(self, row, table):
        """Whether the graph reads what the row does."""
        node = self.nodes[self.convolution(scope_of(row.name))]
        made = self.made_by(node.inputs[0])
        if made != (self.convolution(scope_of(table[row.input].name)) if row.input >= 0 else
                    'Preprocessor/sub'):
            raise Wrong(f'layer {row.name} reads {made}')
        if (scope_of(row.name).removesuffix('/project') + '/add' in self.nodes) != (row.addend is not None and
                                                                                 half_of(row) is None):
            raise Wrong(f'layer {row.name} adds something else')


def only_persons(layer, outputs):
    """The layer of scores without the background."""
    layer.weights, layer.biases = layer.weights[1::CLASSES], layer.biases[1::CLASSES]
    missing = outputs - len(layer.biases)
    layer.weights += [[0.0] * len(layer.weights[0]) for _ in range(missing)]
    layer.biases += [NEVER] * missing
    layer.outputs = outputs


def cut(layer, row, half):
    """Half of the outputs of a layer whose channels become two rows, or half of what one adds that reads those."""
    if row.name.startswith('last') or row.kind == 'DEPTH':
        begin = half * row.outputs
        layer.weights, layer.biases = (part[begin:begin + row.outputs] for part in (layer.weights, layer.biases))
        layer.outputs = row.outputs
    else:
        begin = half * row.inputs
        layer.weights = [values[begin:begin + row.inputs] for values in layer.weights]
        layer.biases = layer.biases if half else [0.0] * row.outputs


def layer_of(reader, row, table):
    if row.kind == 'CONCAT':
        layer = Layer('CONCAT', row.input, row.inputs, row.outputs)
        layer.addend = row.addend
        return layer
    layer, half = reader.layer(row), half_of(row)
    if row.name.startswith('score') and row.kind == 'POINT':
        only_persons(layer, row.outputs)
    if half is not None:
        cut(layer, row, half)
    reader.check_input(row, table)
    layer.inputs = len(layer.weights[0]) if row.kind == 'POINT' else row.inputs
    layer.source, layer.addend = row.input, row.addend
    return layer


def read(path, table):
    """The layers of a graph, which are those of the table."""
    reader = Reader(path)
    layers = [layer_of(reader, row, table) for row in table]
    check(layers, table)
    return layers
