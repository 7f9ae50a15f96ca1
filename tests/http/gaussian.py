# SPDX-License-Identifier: MIT
"""The blur in float64, as plainly as possible.

One axis of n samples is filtered by an n x n matrix whose row i holds the weights of all
samples in result i. Samples outside are folded onto those that the edge mode shows there."""

import functools

import numpy
from scipy import sparse

TAIL = 6  # sigmas


def source(at, n, edge):
    """Which sample stands at each place; -1: black."""
    if edge == 'clamp' or (n == 1 and edge == 'mirror'):
        return numpy.clip(at, 0, n - 1)
    if edge == 'wrap':
        return at % n
    if edge == 'mirror':  # about the centre of the first and last sample
        folded = at % (2 * (n - 1))
        return numpy.minimum(folded, 2 * (n - 1) - folded)
    return numpy.where((at < 0) | (at >= n), -1, at)


@functools.lru_cache(64)
def operator(n, sigma, edge='clamp', radius=None):
    reach = radius or int(numpy.ceil(TAIL * sigma))
    offset = numpy.arange(-reach, reach + 1)
    weight = numpy.exp(-offset ** 2 / (2 * sigma ** 2))
    weight /= weight.sum()
    at = source(numpy.arange(n)[:, None] + offset, n, edge)
    inside = at >= 0
    rows = numpy.broadcast_to(numpy.arange(n)[:, None], at.shape)[inside]
    weights = numpy.broadcast_to(weight, at.shape)[inside]
    return sparse.csr_matrix((weights, (rows, at[inside])), (n, n))  # the weights that fall on one sample are added


def blur(picture, sigma, edge='clamp', radius=None):
    """Picture of height x width (x channels); float64, not rounded."""
    height, width = picture.shape[:2]
    plane = numpy.asarray(picture, numpy.float64)
    rows = operator(height, sigma, edge, radius) @ plane.reshape(height, -1)
    columns = numpy.moveaxis(rows.reshape(plane.shape), 1, 0)
    result = operator(width, sigma, edge, radius) @ columns.reshape(width, -1)
    return numpy.moveaxis(result.reshape(columns.shape), 0, 1)


def blur_alpha(picture, sigma, top=255):
    """Colours weighted by their alpha, the last channel: (premultiplied colours, alpha)."""
    plane = numpy.asarray(picture, numpy.float64)
    alpha = plane[..., -1:]
    return blur(plane[..., :-1] * alpha / top, sigma), blur(alpha, sigma)


def tutorial(picture, size, sigma):
    """The classic kernel of textbooks: whole weights, clamped borders, truncated division."""
    half = size // 2
    offset = numpy.arange(-half, half + 1)
    distance = offset[:, None] ** 2 + offset[None, :] ** 2
    weight = numpy.round(1000 * numpy.exp(-distance / (2 * sigma ** 2))).astype(numpy.int64)
    padded = numpy.pad(picture.astype(numpy.int64), ((half, half), (half, half), (0, 0)), mode='edge')
    height, width = picture.shape[:2]
    total = sum(weight[y, x] * padded[y:y + height, x:x + width]
                for y in range(size) for x in range(size))
    return total // weight.sum()


def psnr(one, other):
    error = numpy.mean((numpy.asarray(one, numpy.float64) - other) ** 2)
    return 10 * numpy.log10(255 ** 2 / max(error, 1e-9))
