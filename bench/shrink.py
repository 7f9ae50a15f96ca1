#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Measures what shrinking a JPEG while it is decoded costs in accuracy, in blurd and in sharp, and writes
bench/results/shrink.md.

    tests/python.sh bench/shrink.py FOLDER

FOLDER has photographs as JPEGs. They become grey, at most 2000 pixels wide, and are resized as PNGs. The errors are the
largest one and the mean, in steps of 255, against the definition of Lanczos for the whole picture in double precision."""
import io
import pathlib
import statistics
import sys

import numpy
from PIL import Image

import report
import resize
import subjects

ABOUT = '''# Shrinking a JPEG while it is decoded

The largest error and the mean one of grey photographs, in steps of 255, against the definition for the whole picture, by the size of the result. sharp
shrinks at most to the size of the result, `shrink=fast` to twice that size. `bench/shrink.py` measures this.'''
RATIOS = (2, 3, 4, 6, 8, 12, 16, 24)
WIDEST, QUALITY = 2000, 92


def grey(path):
    picture = Image.open(path).convert('L')
    if picture.width > WIDEST:
        picture = picture.resize((WIDEST, picture.height * WIDEST // picture.width))
    out = io.BytesIO()
    picture.save(out, 'jpeg', quality=QUALITY)
    return out.getvalue()


def definition(body, width):
    samples = numpy.asarray(Image.open(io.BytesIO(body)), dtype=numpy.float64)
    height = max(1, int(samples.shape[0] * width / samples.shape[1] + 0.5))
    across = samples @ resize.weights(samples.shape[1], width).T
    return (resize.weights(samples.shape[0], height) @ across).clip(0, 255)


def off(server, options, body, width, wanted):
    answer = server.request('POST', f'/resize?width={width}&format=png{options}', body)
    return abs(numpy.asarray(Image.open(io.BytesIO(answer)).convert('L'), dtype=numpy.float64) - wanted)


def row(ratio, everyone, bodies):
    found = {name: [] for name in everyone}
    for body in bodies:
        width = Image.open(io.BytesIO(body)).width // ratio
        wanted = definition(body, width)
        for name, (server, options) in everyone.items():
            found[name].append(off(server, options, body, width, wanted))
    cells = [f'1 / {ratio}', *(f'{max(one.max() for one in all):.1f}, {statistics.mean(one.mean() for one in all):.2f}' for all in found.values())]
    print(*cells, sep=' | ', flush=True)
    return cells


def main():
    bodies = [grey(path) for path in sorted(pathlib.Path(sys.argv[1]).glob('*.jpg'))]
    blurd, sharp = subjects.Blurd(), subjects.Sharp()
    everyone = {'blurd': (blurd, ''), 'blurd, shrink=fast': (blurd, '&shrink=fast'), 'sharp': (sharp, ''), 'sharp, load off': (sharp, '&load=0')}
    try:
        rows = [row(ratio, everyone, bodies) for ratio in RATIOS]
    finally:
        blurd.stop()
        sharp.stop()
    made = report.table(['size', *everyone], rows)
    report.write_table('shrink', ABOUT, made)


if __name__ == '__main__':
    main()
