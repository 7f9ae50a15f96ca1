# SPDX-License-Identifier: MIT
"""The body of the text detector in PyTorch, with weights and outputs rounded as the 8-bit runner rounds them (detect/network.h),
and what plates read of it. It is not trained: text and plates share it."""

import pathlib
import sys

import torch
import torch.nn.functional as F

DETECT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(DETECT))

import convert  # noqa: E402
import network  # noqa: E402
import onnx_layers  # noqa: E402


def table_and_first():
    """The rows of detect/text/network.def and detect/plates/network.def, and how many are of the first."""
    return network.layers('text', 'plates'), len(network.layers('text'))


def rounded(values, scale):
    """A layer's output as bytes tell it."""
    step, zero = scale.steps[0], scale.zero
    return ((values / step).round() + zero).clamp(0, 255).sub(zero).mul(step)


def as_kernel(row, weights):
    """Lists of a layer's weights as a kernel of PyTorch."""
    tensor = torch.tensor(weights, dtype=torch.float32)
    if row.kind == 'DEPTH':
        return tensor.reshape(row.outputs, 1, row.size, row.size)
    return tensor.reshape(row.outputs, row.size, row.size, row.inputs).permute(0, 3, 1, 2).contiguous()


class Body:
    """Runs the rows that `wanted` rows need."""

    def __init__(self, onnx, scales, wanted, device, dtype):
        self.table = network.layers('text')
        self.layers = onnx_layers.read(onnx, self.table)
        self.scales = convert.read_scales([scales], self.table)
        self.device, self.dtype = device, dtype
        self.wanted = wanted
        self.rows = self.needed(wanted)
        form = network.FORMS['text']
        self.mean, self.deviation = (torch.tensor(values, device=device).reshape(1, 3, 1, 1) for values in (form.mean, form.deviation))
        self.weights = {index: self.prepare(index) for index in self.rows}

    def needed(self, wanted):
        rows, left = set(), list(wanted)
        while left:
            index = left.pop()
            if index is not None and index >= 0 and index not in rows:
                rows.add(index)
                left += [self.table[index].input, self.table[index].addend]
        return sorted(rows)

    def to(self, values):
        return torch.as_tensor(values, dtype=torch.float32).to(self.device, self.dtype)

    def prepare(self, index):
        row, layer = self.table[index], self.layers[index]
        if row.kind == 'EXCITE':
            return [(self.to(weights).reshape(len(biases), -1, 1, 1), self.to(biases)) for weights, biases in layer.steps]
        if row.kind in ('POOL', 'CONCAT'):
            return None
        kernel = as_kernel(row, layer.weights)
        largest = kernel.abs().amax((1, 2, 3), keepdim=True).clamp_min(1e-12) / convert.LARGEST
        kernel = (kernel / largest).round() * largest
        return self.to(kernel), self.to(layer.biases)

    def excited(self, index, values):
        layer = self.layers[index]
        (reduce, reduce_bias), (expand, expand_bias) = self.weights[index]
        mean = values.float().mean((2, 3), keepdim=True).to(self.dtype)
        inner = F.relu(F.conv2d(mean, reduce, reduce_bias))
        gate = (F.conv2d(inner, expand, expand_bias) * layer.slope + layer.shift).clamp(0, 1)
        return values * (gate + layer.base)

    def one(self, index, values, addend):
        row = self.table[index]
        if row.kind == 'POOL':
            return F.max_pool2d(F.pad(values, (0, 1, 0, 1), value=-1e4), 2, 1)
        if row.kind == 'CONCAT':
            if values.shape[2:] != addend.shape[2:]:
                values = F.interpolate(values, scale_factor=2, mode='nearest')
            return torch.cat([values, addend], 1)
        if row.kind == 'EXCITE':
            values = self.excited(index, values)
        else:
            kernel, biases = self.weights[index]
            groups = row.outputs if row.kind == 'DEPTH' else 1
            values = F.conv2d(values, kernel, biases, row.stride, row.size // 2, groups=groups)
        if row.activation == 'RELU':
            values = F.relu(values)
        elif row.activation == 'TABLE':
            values = F.gelu(values)
        if addend is not None:
            if values.shape[2:] != addend.shape[2:]:
                addend = F.interpolate(addend, scale_factor=2, mode='nearest')
            values = values + addend
        return rounded(values, self.scales[index])

    @torch.no_grad()
    def __call__(self, pictures):
        """{row: output} of pictures, N x 3 x height x width with samples of 0 to 255; sides are multiples of 32."""
        first = ((pictures.float() - self.mean) / self.deviation).to(self.dtype).contiguous(memory_format=torch.channels_last)
        outputs, last = {-1: first}, {}
        for index in self.rows:
            last[self.table[index].input] = last[self.table[index].addend] = index
        for index in self.rows:
            row = self.table[index]
            outputs[index] = self.one(index, outputs[row.input], None if row.addend is None else outputs[row.addend])
            outputs = {name: kept for name, kept in outputs.items() if name in self.wanted or last.get(name, -1) > index}
        return {index: outputs[index] for index in self.wanted}
