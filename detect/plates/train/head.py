# SPDX-License-Identifier: MIT
"""The layers that find plates (detect/plates/network.def) in PyTorch: first in floating point with batch normalisation, then with
weights and outputs rounded as the 8-bit runner rounds them, so that training goes on with the numbers that will be used."""

import torch
import torch.nn.functional as F
from torch import nn

import body
import convert

MAP_STEP = convert.MAP_SCALE
RESERVE = 1.05  # of a scale beyond the largest value that was seen


class Rounded(torch.autograd.Function):
    """Rounds, and hands gradients on as if it had not."""

    @staticmethod
    def forward(ctx, values):
        return values.round()

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class Weighted(nn.Module):
    """A convolution with batch normalisation; the last one has a bias instead."""

    def __init__(self, row, last):
        super().__init__()
        self.row, self.last = row, last
        if row.kind == 'UP':
            shape = (row.inputs, row.outputs, 2, 2)
        else:
            shape = (row.outputs, 1 if row.kind == 'DEPTH' else row.inputs, row.size, row.size)
        fan = shape[1] * shape[2] * shape[3] if row.kind != 'UP' else row.inputs
        self.kernel = nn.Parameter(torch.randn(shape) * (2 / fan) ** 0.5)
        self.norm = None if last else nn.BatchNorm2d(row.outputs, momentum=0.02)
        self.bias = nn.Parameter(torch.full((row.outputs,), -3.0)) if last else None

    def convolve(self, values, kernel, bias):
        if self.row.kind == 'UP':
            return F.conv_transpose2d(values, kernel, bias, 2)
        groups = self.row.outputs if self.row.kind == 'DEPTH' else 1
        return F.conv2d(values, kernel, bias, self.row.stride, self.row.size // 2, groups=groups)

    def folded(self):
        """Kernel and biases with the normalisation in them."""
        if self.last:
            return self.kernel, self.bias
        norm = self.norm
        factor = norm.weight / (norm.running_var + norm.eps).sqrt()
        return self.kernel * factor.reshape(-1, 1, 1, 1), norm.bias - norm.running_mean * factor

    def quantised(self, steps):
        """The kernel as integers of 8 bits tell it; `steps` are those of the input's channels."""
        kernel, bias = self.folded()
        if self.row.kind == 'DEPTH':
            by, over = torch.ones(1, device=kernel.device), (1, 2, 3)
        elif self.row.kind == 'UP':
            by, over = steps.reshape(-1, 1, 1, 1), (0, 2, 3)
        else:
            by, over = steps.reshape(1, -1, 1, 1), (1, 2, 3)
        scaled = kernel * by
        scale = (scaled.detach().abs().amax(over, keepdim=True) / convert.LARGEST).clamp_min(1e-12)
        return Rounded.apply(scaled / scale) * scale / by, bias

    def forward(self, values, steps):
        if steps is None:
            made = self.convolve(values, self.kernel, self.bias)
            return made if self.last else self.norm(made)
        kernel, bias = self.quantised(steps)
        return self.convolve(values, kernel, bias)


class Head(nn.Module):
    def __init__(self, scales):
        """`scales` are those of the text detector."""
        super().__init__()
        table, self.first = body.table_and_first()
        self.rows = table[self.first:]
        self.scales = scales
        self.layers = nn.ModuleDict({row.name: Weighted(row, number + 1 == len(self.rows))
                                     for number, row in enumerate(self.rows) if row.kind != 'CONCAT'})
        self.register_buffer('largest', torch.zeros(len(self.rows)))
        self.watches = False  # outputs are measured
        self.rounds = False

    @property
    def reads(self):
        """Rows of the text table that are read."""
        return sorted({row.input for row in self.rows if row.input < self.first})

    def step(self, index):
        """Of a row of the head, a number."""
        row = self.rows[index]
        span = 255.0 if row.activation == 'RELU' else 127.0
        return self.largest[index] * RESERVE / span

    def steps_of(self, index):
        """The steps of all channels of a row of either table."""
        if index < self.first:
            steps = self.scales[index].steps
            return torch.tensor(steps, device=self.largest.device)
        row = self.rows[index - self.first]
        if row.kind == 'CONCAT':
            return torch.cat([self.steps_of(row.input), self.steps_of(row.addend)])
        return self.step(index - self.first).expand(row.outputs)

    def rounded(self, index, values):
        step = self.step(index)
        low, high = (0, 255) if self.rows[index].activation == 'RELU' else (-128, 127)
        return Rounded.apply((values / step).clamp(low, high)) * step

    def one(self, number, outputs):
        row = self.rows[number]
        values = outputs[row.input]
        if row.kind == 'CONCAT':
            other = outputs[row.addend]
            if values.shape[2:] != other.shape[2:]:
                values = F.interpolate(values, scale_factor=2, mode='nearest')
            return torch.cat([values, other], 1)
        values = self.layers[row.name](values, self.steps_of(row.input) if self.rounds else None)
        if row.activation == 'RELU':
            values = F.relu(values)
        if number + 1 == len(self.rows):
            return values
        if self.watches:
            self.largest[number] = torch.maximum(self.largest[number], values.detach().float().abs().amax())
        return self.rounded(number, values) if self.rounds else values

    def forward(self, seen):
        """Logits of the map, N x 1 x height / 2 x width / 2, of {row of the text table: output}."""
        outputs = dict(seen)
        for number in range(len(self.rows)):
            outputs[self.first + number] = self.one(number, outputs)
        return outputs[self.first + len(self.rows) - 1]
