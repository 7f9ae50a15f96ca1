# SPDX-License-Identifier: MIT
"""Writes the trained layers as the build takes them: plates.head, the arrays of detect/model.h of the layers that find plates, and
plates.scales, the steps of their outputs."""

import hashlib
import math

import body
import convert
import onnx_layers


# A score of a half is one of so many as training made it: it takes sides for finding plates, and what else is found with lower ones.
# bench/plates.py --half tune shows what each would find.
MIDDLE = 0.95


def layer_of(row, weighted):
    """The layer as detect/onnx_layers.py has it: weights of each output channel, in the order [ky][kx][input]."""
    layer = onnx_layers.Layer(row.kind, row.input, row.inputs, row.outputs, row.size, row.stride)
    layer.activation = row.activation
    if weighted is None:
        return layer
    kernel, bias = weighted.folded()
    kernel = kernel.detach().double().cpu()
    order = kernel.permute(1, 2, 3, 0) if row.kind == 'UP' else kernel.permute(0, 2, 3, 1)
    layer.weights = order.reshape(row.outputs, -1).tolist()
    layer.biases = bias.detach().double().cpu().tolist()
    if weighted.last:
        layer.biases = [bias - math.log(MIDDLE / (1 - MIDDLE)) for bias in layer.biases]
    return layer


def write(net, folder):
    """plates.head, its hash, and plates.scales."""
    lines = ['# Step of the output of each layer (detect/convert.py). Made by detect/plates/train/train.py.']
    for number, row in enumerate(net.rows[:-1]):
        if row.kind != 'CONCAT':
            lines.append(f'{row.name} {float(net.step(number)):.6g}')
    (folder / 'plates.scales').write_text('\n'.join(lines) + '\n', encoding='utf-8')
    table, _ = body.table_and_first()
    scales = convert.read_scales([str(body.DETECT / 'text' / 'ppocr.scales'), str(folder / 'plates.scales')], table)
    layers = [layer_of(row, net.layers[row.name] if row.kind != 'CONCAT' else None) for row in net.rows]
    data = convert.head_file(table, layers, scales)
    (folder / 'plates.head').write_bytes(data)
    (folder / 'plates.sha256').write_text(f'{hashlib.sha256(data).hexdigest()}  plates.head\n', encoding='utf-8')
