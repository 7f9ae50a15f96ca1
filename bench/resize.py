#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Measures resizing beside sharp, libvips and OpenCV, and writes bench/results/resize.md.

    tests/python.sh bench/resize.py [--seconds N]

Two photographs, each as JPEG and as PNG, in three sizes. CPU time is that of all processes and threads. The errors are those of
PNGs against the definition of Lanczos (docs/filters.md) in double precision: the largest and the mean over all samples, in steps
of 255. blurd and sharp are servers; the others are libraries without HTTP. `load off` is sharp without shrinking while it
decodes a JPEG, `blurd, fast` is blurd with it."""
import argparse
import io
import math
import pathlib
import statistics
import tempfile
import time

import numpy
from PIL import Image

import pictures
import report
import subjects

ABOUT = '''# Resizing beside others

Two photographs, blurd and sharp over HTTP, libvips and OpenCV as libraries without HTTP, Lanczos with three lobes; OpenCV shrinks by the mean of areas, since
its Lanczos is not antialiased. sharp shrinks JPEGs by 2, 4 or 8 while it decodes them; "load off" is without that, "blurd, fast" is blurd with
`shrink=fast`. Errors are the largest and the mean difference of PNGs from the definition in steps of 255: perfect rounding has 0.50
and 0.250. `bench/resize.py` measures this.'''
TASKS = [('12 MP to 1080p', (4000, 3000), 1440), ('1080p to 400', (1920, 1080), 400), ('400 to 1080p', (400, 226), 1920)]
SUPPORT = 3


def lanczos(x):
    return numpy.sinc(x) * numpy.sinc(x / SUPPORT) * (abs(x) < SUPPORT)


def weights(source, target):
    """(target, source): the kernel stretched by the ratio, around the centre of each target sample."""
    ratio = source / target
    stretch = max(ratio, 1)
    centres = (numpy.arange(target) + 0.5) * ratio
    reach = math.ceil(SUPPORT * stretch) + 1
    found = numpy.zeros((target, source))
    for i, centre in enumerate(centres):
        taps = numpy.arange(math.floor(centre) - reach, math.floor(centre) + reach + 1)
        weight = lanczos((taps + 0.5 - centre) / stretch)
        numpy.add.at(found[i], taps.clip(0, source - 1), weight / weight.sum())
    return found


def definition(path, width):
    samples = numpy.asarray(Image.open(path).convert('RGB'), dtype=numpy.float64)
    height = max(1, math.floor(samples.shape[0] * width / samples.shape[1] + 0.5))
    across = numpy.einsum('ij,yjc->yic', weights(samples.shape[1], width), samples, optimize=True)
    return numpy.einsum('ij,jxc->ixc', weights(samples.shape[0], height), across, optimize=True)


def errors(data, expected):
    """(largest, mean), or None where the size is another one."""
    samples = numpy.asarray(Image.open(io.BytesIO(data)).convert('RGB'), dtype=numpy.float64)
    if samples.shape != expected.shape:
        return None
    off = abs(samples - expected.clip(0, 255))
    return off.max(), off.mean()


class Served:
    def __init__(self, server, options=''):
        self.server, self.options = server, options

    def answer(self, path, width):
        return self.server.request('POST', f'/resize?width={width}{self.options}', path.read_bytes())

    def cpu_ms(self, paths, width, seconds):
        connections = 2 * len(subjects.CORES)
        begin = time.monotonic()
        for path in paths:  # also warms up
            self.answer(path, width)
        slowest = connections * (time.monotonic() - begin) / len(paths)
        return self.server.load(f'/resize?width={width}{self.options}', paths, math.ceil(max(seconds, 2 * slowest)), connections)['cpu_ms']


class Called:
    def __init__(self, name):
        self.library = subjects.Library(name)

    def job(self, path, width, seconds, keep=None):
        return self.library.job(path, 0, seconds, keep=keep, width=width)

    def answer(self, path, width):
        with tempfile.TemporaryDirectory() as folder:
            keep = pathlib.Path(folder, 'kept')
            self.job(path, width, 0, keep)
            return keep.read_bytes()

    def cpu_ms(self, paths, width, seconds):
        return statistics.mean(statistics.median(self.job(path, width, seconds / len(paths))['ms']) for path in paths)


def ratio(spent, name):
    return f"{spent['sharp'] / spent[name]:.2f}" if name in spent else '-'


def row(task, form, everyone, seconds):
    title, size, width = task
    paths = pictures.large(size, form)
    spent = {name: one.cpu_ms(paths, width, seconds) for name, one in everyone.items() if form == 'jpeg' or name not in ('sharp, load off', 'blurd, fast')}
    cells = [title, form.upper()] + [report.number(spent.get(name)) for name in everyone] + [ratio(spent, 'blurd'), ratio(spent, 'blurd, fast')]
    if form == 'png':
        wanted = [definition(path, width) for path in paths]
        for name in ('blurd', 'sharp', 'libvips', 'OpenCV'):
            found = [errors(everyone[name].answer(path, width), want) for path, want in zip(paths, wanted)]
            cells.append('-' if None in found else f'{max(one[0] for one in found):.2f}, {statistics.mean(one[1] for one in found):.3f}')
    else:
        cells += ['-'] * 4
    print(*cells, sep=' | ', flush=True)
    return cells


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seconds', type=float, default=4)
    options = parser.parse_args()
    blurd, sharp = subjects.Blurd(), subjects.Sharp()
    vips, opencv = Called('vips'), Called('opencv')
    everyone = {'blurd': Served(blurd, '&enlarge=true'), 'blurd, fast': Served(blurd, '&enlarge=true&shrink=fast'), 'sharp': Served(sharp), 'sharp, load off': Served(sharp, '&load=0'),
                'libvips': vips, 'OpenCV': opencv}
    try:
        rows = [row(task, form, everyone, options.seconds) for form in ('jpeg', 'png') for task in TASKS]
    finally:
        for each in (blurd, sharp, vips.library, opencv.library):
            each.stop()
    head = ['', 'files', *(f'{name}, CPU ms' for name in everyone), 'sharp to blurd', 'sharp to blurd, fast', *(f'error of {name}' for name in ('blurd', 'sharp', 'libvips', 'OpenCV'))]
    made = report.table(head, rows)
    report.write_table('resize', ABOUT, made)


if __name__ == '__main__':
    main()
