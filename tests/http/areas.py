# SPDX-License-Identifier: MIT
"""Regions in a picture of width x height: (value of `region`, the pixels inside as a mask).

A pixel is inside when its centre is. No border of these shapes goes through a centre, so that
the masks can be turned with the picture."""

import urllib.parse

import numpy


def centres(width, height):
    y, x = numpy.mgrid[0:height, 0:width] + 0.5
    return x, y


def rectangle(width, height, left, top, wide, high):
    x, y = centres(width, height)
    return (left <= x) & (x < left + wide) & (top <= y) & (y < top + high)


def ellipse(width, height, left, top, wide, high):
    x, y = centres(width, height)
    return ((x - left - wide / 2) / (wide / 2)) ** 2 + ((y - top - high / 2) / (high / 2)) ** 2 < 1


def polygon(width, height, *numbers):
    """Where the corners wind around, by the angles they are seen under."""
    x, y = centres(width, height)
    corners = numpy.array(numbers, float).reshape(-1, 2)
    turns = numpy.zeros((height, width))
    for (x0, y0), (x1, y1) in zip(corners, numpy.roll(corners, -1, 0)):
        turn = numpy.arctan2(y1 - y, x1 - x) - numpy.arctan2(y0 - y, x0 - x)
        turns += (turn + numpy.pi) % (2 * numpy.pi) - numpy.pi
    return numpy.abs(turns) > numpy.pi


SHAPES = {'': rectangle, 'ellipse:': ellipse, 'polygon:': polygon}


def mask(text, width, height):
    """The values of `region`, in pixels and percent."""
    form, _, numbers = text.rpartition(':')
    sides = (width, height)
    values = [float(number[:-1]) * sides[i % 2] / 100 if number.endswith('%') else float(number)
              for i, number in enumerate(numbers.split(','))]
    return SHAPES[form + ':' if form else ''](width, height, *values)


def query(*regions, **more):
    """For a URL."""
    pairs = [('region', region) for region in regions] + list(more.items())
    return '&'.join(f'{name}={urllib.parse.quote(str(value), safe=",:")}' for name, value in pairs)
