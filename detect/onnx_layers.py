# SPDX-License-Identifier: MIT
"""The layers of a network in ONNX, in single precision: convolutions with all that belongs to them (batch normalisation, bias,
activation, addition), squeeze and excitation, pools, concatenations."""

import math

import onnx_file


class Wrong(Exception):
    """The ONNX file has what no layer of detect/network.h does, or is another network than the table."""


class Layer:
    """Weights of each output channel, a list in the order [ky][kx][input]; biases; what it reads."""

    def __init__(self, kind, source, inputs, outputs, size=1, stride=1, weights=None, biases=None):
        self.kind, self.source, self.inputs, self.outputs, self.size, self.stride = kind, source, inputs, outputs, size, stride
        self.weights, self.biases = weights, biases
        self.activation, self.addend, self.base = 'LINEAR', None, 0
        self.limit = math.inf  # of RELU: the most that it lets through
        self.steps = []  # of EXCITE: rows of weights and biases of both products
        self.slope = self.shift = None  # gate = limit(slope * value + shift)

    def normalise(self, gain, shift, mean, variance, epsilon):
        for o, row in enumerate(self.weights):
            factor = gain[o] / math.sqrt(variance[o] + epsilon)
            self.weights[o] = [weight * factor for weight in row]
            self.biases[o] = (self.biases[o] - mean[o]) * factor + shift[o]


def taps(shape, values, transposed):
    """The weights of a convolution. A window of 2x2 that looks to the right and down becomes one of 3x3."""
    outputs, inputs, high, wide = (shape[1], shape[0], *shape[2:]) if transposed else shape
    at = lambda o, i, y, x: ((i * outputs + o if transposed else o * inputs + i) * high + y) * wide + x
    skip = 1 if high == 2 and not transposed else 0
    size = high + skip
    return size, [[values[at(o, i, y - skip, x - skip)] if min(x, y) >= skip else 0.0
                   for y in range(size) for x in range(size) for i in range(inputs)] for o in range(outputs)]


class Reader:
    def __init__(self, path):
        self.nodes, self.tensors = onnx_file.read(path)
        self.layers = []
        self.made = {self.nodes[0].inputs[0]: -1}  # by the name of a value: the layer
        self.gates = {}  # by the name of a value on the way from the means to the factors: the EXCITE layer
        self.gelus = {}  # by the name of a value within a GELU: the layer that it belongs to
        self.enlarged = set()

    def add(self, layer):
        self.layers.append(layer)
        return len(self.layers) - 1

    def channels(self, layer):
        return 3 if layer < 0 else self.layers[layer].outputs

    def convolution(self, node):
        shape, values = self.tensors[node.inputs[1]]
        transposed = node.kind == 'ConvTranspose'
        size, weights = taps(shape, values, transposed)
        outputs = shape[1] if transposed else shape[0]
        biases = list(self.tensors[node.inputs[2]].values) if len(node.inputs) > 2 else [0.0] * outputs
        if node.inputs[0] in self.gates:
            self.gates[node.outputs[0]] = gate = self.gates[node.inputs[0]]
            gate.steps.append([weights, biases])
            return
        kind = 'UP' if transposed else 'DEPTH' if node.attributes['group'] > 1 else 'POINT' if size == 1 else 'DENSE'
        source = self.made[node.inputs[0]]
        self.made[node.outputs[0]] = self.add(Layer(kind, source, self.channels(source), outputs, size,
                                                    node.attributes['strides'][0], weights, biases))

    def add_values(self, node):
        """A bias, or another layer's output."""
        first, second = node.inputs
        target = node.outputs[0]
        if first in self.gelus:
            self.gelus[target] = self.gelus[first]
        elif second in self.tensors:
            gate = self.gates.get(first)
            biases = gate.steps[-1][1] if gate else self.layers[self.made[first]].biases
            for o, value in enumerate(self.tensors[second].values):
                biases[o] += value
            self.copy(first, target)
        else:
            self.made[target] = self.add_layers(node, self.made[first], self.made[second])

    def add_layers(self, node, first, second):
        """x + x * gate has a base of 1; else the later layer adds the other, or the one of the full size that of the half."""
        earlier, later = sorted((first, second))
        layer = self.layers[later]
        if layer.kind == 'EXCITE' and layer.source == earlier and layer.addend is None and not layer.base:
            layer.base = 1
            return later
        if node.inputs[1] in self.enlarged:
            later, earlier, layer = first, second, self.layers[first]
        if layer.addend is not None:
            raise Wrong(f'{node.outputs[0]} is a second addition')
        layer.addend = earlier
        return later

    def copy(self, source, target):
        for known in (self.made, self.gates, self.gelus):
            if source in known:
                known[target] = known[source]
        if source in self.enlarged:
            self.enlarged.add(target)

    def multiply(self, node):
        first, second = node.inputs
        if second in self.gates:
            gate = self.gates[second]
            if self.made[first] != gate.source:
                raise Wrong(f'{node.outputs[0]} multiplies by factors of something else')
            self.made[node.outputs[0]] = self.add(gate)
        elif second in self.gelus:
            self.gelus[node.outputs[0]] = self.gelus[second]
        elif first in self.gelus:  # times a half: the end of x * (1 + erf(x / sqrt 2)) / 2
            self.layers[self.gelus[first]].activation = 'TABLE'
            self.made[node.outputs[0]] = self.gelus[first]
        else:
            raise Wrong(f'{node.outputs[0]} is an unknown product')

    def concatenate(self, node):
        joined = self.made[node.inputs[0]]
        for name in node.inputs[1:]:
            added = self.made[name]
            inputs = self.channels(joined)
            layer = Layer('CONCAT', joined, inputs, inputs + self.channels(added))
            layer.addend = added
            joined = self.add(layer)
        self.made[node.outputs[0]] = joined

    def take(self, node):
        source, target = node.inputs[0], node.outputs[0]
        kind, layer = node.kind, self.made.get(source)
        if kind in ('Conv', 'ConvTranspose'):
            self.convolution(node)
        elif kind == 'BatchNormalization':
            self.layers[layer].normalise(*(self.tensors[name].values for name in node.inputs[1:]), node.attributes['epsilon'])
            self.copy(source, target)
        elif kind == 'Relu':
            if source in self.made:
                self.layers[layer].activation = 'RELU'
            self.copy(source, target)
        elif kind in ('Identity', 'Sigmoid'):
            self.copy(source, target)
        elif kind == 'Resize':
            self.copy(source, target)
            self.enlarged.add(target)
        elif kind == 'MaxPool':
            self.made[target] = self.add(Layer('POOL', layer, self.channels(layer), self.channels(layer), 2))
        elif kind in ('GlobalAveragePool', 'ReduceMean'):
            self.gates[target] = Layer('EXCITE', layer, self.channels(layer), self.channels(layer))
        elif kind == 'HardSigmoid':
            self.copy(source, target)
            self.gates[target].slope, self.gates[target].shift = node.attributes['alpha'], node.attributes['beta']
        elif kind in ('Div', 'Erf'):
            self.gelus[target] = self.gelus[source] if source in self.gelus else layer
        elif kind == 'Add':
            self.add_values(node)
        elif kind == 'Mul':
            self.multiply(node)
        elif kind == 'Concat':
            self.concatenate(node)
        else:
            raise Wrong(f'{kind} is not a part of such networks')


def in_order(layers):
    """The layers so that each one stands behind those that it reads."""
    place, ordered, left = {-1: -1, None: None}, [], list(range(len(layers)))
    while left:
        ready = next(i for i in left if layers[i].source in place and layers[i].addend in place)
        place[ready] = len(ordered)
        ordered.append(layers[ready])
        left.remove(ready)
    for layer in ordered:
        layer.source, layer.addend = place[layer.source], place[layer.addend]
    return ordered


def with_heads(layers):
    """The four products at the end of CenterFace become one layer."""
    heads = layers[-4:]
    if any(head.source != heads[0].source or head.kind != 'POINT' for head in heads):
        raise Wrong('the last four convolutions are not its heads')
    merged = Layer('HEADS', heads[0].source, heads[0].inputs, sum(head.outputs for head in heads),
                   weights=sum((head.weights for head in heads), []), biases=sum((head.biases for head in heads), []))
    return layers[:-4] + [merged]


def check(layers, table):
    """Whether they are those of the table."""
    if len(layers) != len(table):
        raise Wrong(f'it has {len(layers)} layers instead of {len(table)}')
    for layer, row in zip(layers, table):
        size = len(layer.steps[0][1]) if layer.kind == 'EXCITE' else layer.size
        found = layer.kind, size, layer.source, layer.addend, layer.inputs, layer.outputs, layer.stride, layer.activation
        wanted = row.kind, row.size, row.input, row.addend, row.inputs, row.outputs, row.stride, row.activation
        if found != wanted:
            raise Wrong(f'layer {row.name} is {found} instead of {wanted}')


def read(path, table):
    """The layers of an ONNX file, which are those of the table."""
    reader = Reader(path)
    for node in reader.nodes:
        reader.take(node)
    layers = in_order(reader.layers)
    layers = with_heads(layers) if table[-1].kind == 'HEADS' else layers
    check(layers, table)
    return layers
