# SPDX-License-Identifier: MIT
"""The filters in float64 or in exact whole numbers, by numpy and scipy alone.

Pictures are height x width x channels; `top` is 255 or 65535. Results are not rounded and not
cut to the range, except where whole numbers are exact. `Wanted.doubt` is the error that single precision and
a Gaussian cut at 4 sigma may add to that of rounding, one half."""

import dataclasses

import numpy
from scipy import ndimage

import anatomy
import pictures

MODES = {'clamp': 'nearest', 'mirror': 'mirror', 'wrap': 'wrap', 'zero': 'constant'}
SINGLE = 4e-6  # relative error of a sum of up to 225 products in single precision


@dataclasses.dataclass
class Wanted:
    value: numpy.ndarray
    doubt: numpy.ndarray  # broadcasts to the value


def check(result, wanted, top):
    """Whether whole samples are the wanted values, cut to the range and rounded."""
    assert result.shape == wanted.value.shape
    error = numpy.abs(result - numpy.clip(wanted.value, 0, top)) - wanted.doubt
    at = numpy.unravel_index(error.argmax(), error.shape)
    assert error.max() <= 0.5, f'{result[at]} instead of {wanted.value[at]:.3f} at {at}'


def has_alpha(picture):
    return picture.shape[2] in (2, 4)


def over(colour, alpha):
    """Colour times alpha, without alpha; 0 where there is none."""
    return numpy.divide(colour, alpha, out=numpy.zeros_like(colour), where=alpha > 0)


# --- blur and sharpen --------------------------------------------------------------------
def gauss(plane, sigma, edge='clamp'):
    return ndimage.gaussian_filter(plane, (sigma, sigma, 0), mode=MODES[edge], truncate=6)


def sharpen(picture, sigma, amount, threshold=0, edge='clamp', top=255):
    picture = picture.astype(numpy.float64)
    blur_error = 0.12 * top / 255
    if not has_alpha(picture):
        value = picture
        blurred, doubt = gauss(picture, sigma, edge), numpy.full(picture.shape, blur_error)
    else:
        value, alpha = picture[..., :-1], picture[..., -1:]
        soft = gauss(alpha, sigma, edge)
        blurred = over(gauss(value * alpha, sigma, edge), soft)
        doubt = numpy.broadcast_to(2 * blur_error * top / numpy.maximum(soft, 1), value.shape)
        doubt = numpy.where(alpha > 0, doubt, top)  # invisible: any colour will do
    difference = value - blurred
    limit = threshold * top / 255
    change = numpy.where(numpy.abs(difference) < limit, 0, amount * difference)
    on_the_edge = (threshold > 0) & (numpy.abs(numpy.abs(difference) - limit) <= doubt)
    doubt = amount * doubt + numpy.where(on_the_edge, amount * limit, 0) + 0.01
    value = value + change
    if has_alpha(picture):
        value = numpy.concatenate([value, alpha], 2)
        doubt = numpy.concatenate([doubt, numpy.zeros(alpha.shape)], 2)
    return Wanted(value, doubt)


# --- convolve ----------------------------------------------------------------------------
def correlate(plane, matrix, edge):
    return ndimage.correlate(plane, matrix[:, :, None], mode=MODES.get(edge, 'constant'), cval=0)


def leaves_picture(shape, matrix):
    """Where the window is not all inside."""
    reach_y, reach_x = matrix.shape[0] // 2, matrix.shape[1] // 2
    y, x = numpy.mgrid[0:shape[0], 0:shape[1]]
    inside = (y >= reach_y) & (y < shape[0] - reach_y) & (x >= reach_x) & (x < shape[1] - reach_x)
    return ~inside[:, :, None]


def convolve(picture, matrix, divisor=None, bias=0, edge='clamp', top=255):
    picture = picture.astype(numpy.float64)
    total = matrix.sum()
    divisor = divisor or (total if abs(total) > 1e-9 else 1)
    keeps_sum = abs(total - divisor) < 1e-6 * abs(divisor) and bias == 0

    def run(plane):
        return Wanted(correlate(plane, matrix, edge) / divisor,
                      SINGLE * correlate(numpy.abs(plane), numpy.abs(matrix), edge) / abs(divisor))

    if not has_alpha(picture):
        colour = run(picture)
    else:
        alpha = picture[..., -1:]
        colour = run(picture[..., :-1] * alpha)
        result_alpha = run(alpha) if keeps_sum else Wanted(alpha, numpy.zeros(alpha.shape))
        below = numpy.maximum(result_alpha.value, 0)
        colour = Wanted(over(colour.value, below),
                        over(colour.doubt, below) + over(numpy.abs(colour.value), below ** 2) * result_alpha.doubt)
        colour.doubt = numpy.where(numpy.abs(result_alpha.value) < 0.5, top, colour.doubt)  # as good as invisible
    colour = Wanted(colour.value + bias * top / 255, colour.doubt + 1e-3)
    if edge == 'frame':
        outside = leaves_picture(picture.shape, matrix)
        colour = Wanted(numpy.where(outside, 0, colour.value), numpy.where(outside, 0, colour.doubt))
    if not has_alpha(picture):
        return colour
    if edge == 'frame':
        result_alpha = Wanted(numpy.where(outside, alpha, result_alpha.value), result_alpha.doubt)
    return Wanted(numpy.concatenate([colour.value, result_alpha.value], 2),
                  numpy.concatenate([colour.doubt, result_alpha.doubt + 1e-3], 2))


def as_rows(matrix):
    return ';'.join(','.join(f'{value:g}' for value in row) for row in matrix)


# --- pixelate and stats -------------------------------------------------------------------
def tile_sums(plane, block):
    """Of each tile, spread over its pixels again."""
    height, width = plane.shape[:2]
    rows, columns = numpy.arange(0, height, block), numpy.arange(0, width, block)
    sums = numpy.add.reduceat(numpy.add.reduceat(plane, rows, 0), columns, 1)
    return sums.repeat(block, 0)[:height].repeat(block, 1)[:, :width]


def pixelate(picture, block):
    """Exact."""
    samples = picture.astype(numpy.int64)
    count = tile_sums(numpy.ones(samples.shape[:2] + (1,), numpy.int64), block)
    if not has_alpha(samples):
        return (tile_sums(samples, block) + count // 2) // count
    total = tile_sums(samples[..., -1:], block)
    colour = tile_sums(samples[..., :-1] * samples[..., -1:], block)
    colour = numpy.where(total > 0, (colour + total // 2) // numpy.maximum(total, 1), 0)
    return numpy.concatenate([colour, (total + count // 2) // count], 2)


CHANNELS = {1: ['gray'], 2: ['gray', 'alpha'], 3: ['red', 'green', 'blue'], 4: ['red', 'green', 'blue', 'alpha']}


def check_stats(page, picture, depth=8, inside=None):
    """The answer of /stats about a picture, of which `inside` (height x width) counts."""
    height, width, channels = picture.shape
    samples = picture.reshape(-1, channels) if inside is None else picture[inside]
    assert {key: page[key] for key in ('width', 'height', 'depth', 'pixels')} == \
        {'width': width, 'height': height, 'depth': depth, 'pixels': len(samples)}
    assert [channel['name'] for channel in page['channels']] == CHANNELS[channels]
    for channel, values in zip(page['channels'], samples.T.astype(numpy.int64)):
        bins = numpy.bincount(values >> (depth - 8), minlength=256)
        assert channel['histogram'] == bins.tolist()
        if not len(values):
            assert channel['mean'] is None and channel['standard_deviation'] is None
            continue
        assert (channel['minimum'], channel['maximum']) == (values.min(), values.max())
        assert abs(channel['mean'] - values.mean()) <= 1e-6
        assert abs(channel['standard_deviation'] - values.std()) <= 1e-5


# --- linear light -------------------------------------------------------------------------
def to_linear(samples, top):
    value = samples / top
    return numpy.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def from_linear(light, top):
    light = numpy.clip(light, 0, 1)
    return top * numpy.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)


# --- asking -------------------------------------------------------------------------------
def sample_picture(width, height, channels, depth=8, seed=1):
    """A photograph in which, at 16 bits, all bits are used."""
    picture = pictures.photograph(width, height, channels, seed).astype(numpy.int64)
    return picture if depth == 8 else picture * 257 ^ pictures.noise(width, height, channels)


def ask(server, target, body, **more):
    """The answer to a request that is to succeed."""
    answer = server.post(target, body, **more)
    assert answer.status_code == 200, f'{target}: {answer.text}'
    return answer


def unreduced(target):
    """With which a PNG answer has the channels and bits of the input, so that its samples can be compared."""
    return f'{target}{"&" if "?" in target else "?"}png_reduce=false'


def ask_png(server, target, body, depth=8):
    """The samples of a PNG answer."""
    answer = ask(server, unreduced(target), body)
    assert answer.headers['Content-Type'] == 'image/png'
    assert anatomy.png_header(answer.content)[2] == depth
    return anatomy.read_png(answer.content).astype(numpy.int64)
