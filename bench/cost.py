#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Measures what core/tuned.h and the table of server/planner/cost_filters.c state of JPEGs, PNGs and blurs: CPU time of decoding, of the
blur and of encoding, one thread, photographs of 1920x1080.

    make -s build/release/bench/pipeline && tests/python.sh bench/cost.py [--seconds N] [--rounds N] [--level LEVEL]

All kinds of files take turns, --seconds for each file and round, and the least median of the rounds counts. Decoding a JPEG takes
nanoseconds for each pixel and for each byte of the file, which two qualities tell apart. The blur and encoding are given for each sample, of
which the tables count 2 a pixel with 4:2:0. Times of other filters: build/release/bench/filters."""
import argparse
import pathlib
import subprocess
import tempfile

import numpy
from PIL import Image

import pictures
import report
import subjects

PIXELS = pictures.FULL[0] * pictures.FULL[1]
STAGES = ('whole', 'decode', 'filter', 'encode')
# Name -> format, samples a pixel as in the tables, Pillow's mode and options.
KINDS = {
    'JPEG, quality 30': ('jpeg', 2, 'RGB', {'quality': 30}), 'JPEG, quality 85': ('jpeg', 2, 'RGB', {'quality': 85}),
    'progressive, quality 30': ('jpeg', 2, 'RGB', {'quality': 30, 'progressive': True}),
    'progressive, quality 85': ('jpeg', 2, 'RGB', {'quality': 85, 'progressive': True}),
    'PNG': ('png', 3, 'RGB', {}), 'PNG with alpha': ('png', 4, 'RGBA', {}), 'grey PNG of 16 bits': ('png', 1, 'I;16', {}),
}


def converted(path, mode):
    picture = Image.open(path).convert('RGB')
    if mode == 'I;16':
        return Image.fromarray(numpy.asarray(picture.convert('L')).astype('uint16') * 257)
    if mode == 'RGBA':
        picture.putalpha(picture.getchannel('G'))
    return picture


def files_of(kind, folder):
    form, _, mode, options = KINDS[kind]
    files = [folder / f'{kind} {path.stem}' for path in pictures.large(pictures.FULL, 'jpeg')]
    for file, source in zip(files, pictures.large(pictures.FULL, 'jpeg')):
        converted(source, mode).save(file, form, **options)
    return files


def measure(files, sigma, seconds, level):
    """Milliseconds of each stage, of all files together; each file runs for `seconds`."""
    done = subprocess.run(
        [subjects.RELEASE / 'bench' / 'pipeline', '--level', level, '--optimal', '--seconds', str(seconds), sigma, *files],
        capture_output=True, text=True, check=True)
    rows = [[float(cell) for cell in line.split('\t')[1:]] for line in done.stdout.splitlines()]
    return [sum(column) for column in zip(*rows)][:len(STAGES)]


def rows_of(files, best):
    for kind, (_, samples, *_) in KINDS.items():
        count, ms = len(files[kind]), dict(zip(STAGES, best[kind]))
        size = sum(path.stat().st_size for path in files[kind]) / count
        filtered, written = (f'{ms[stage] / count:.2f}, {ms[stage] * 1e6 / (count * PIXELS * samples):.2f} ns a sample'
                             for stage in ('filter', 'encode'))
        yield [kind, f'{size / 1000:.0f}', f'{ms["decode"] / count:.2f}', filtered, written]


def say_decoding(files, best):
    for name in ('JPEG', 'progressive'):
        low, high = (f'{name}, quality {quality}' for quality in (30, 85))
        sizes = [sum(path.stat().st_size for path in files[kind]) for kind in (low, high)]
        ms = [best[kind][STAGES.index('decode')] for kind in (low, high)]
        byte = (ms[1] - ms[0]) / (sizes[1] - sizes[0])
        pixel = (ms[0] - byte * sizes[0]) / (PIXELS * len(files[low]))
        print(f'\nTo decode {name}: {pixel * 1e6:.2f} ns a pixel and {byte * 1e6:.1f} ns a byte.')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seconds', type=float, default=0.3)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--level', default='auto')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = {kind: files_of(kind, pathlib.Path(folder)) for kind in KINDS}
        best = {}
        for _ in range(options.rounds):
            for kind, paths in files.items():
                now = measure(paths, '5', options.seconds, options.level)
                best[kind] = [min(pair) for pair in zip(now, best.get(kind, now))]
        print(report.table(['', 'KB', 'decode, ms', 'blur, sigma 5, ms', 'encode, ms'], list(rows_of(files, best))))
        say_decoding(files, best)


if __name__ == '__main__':
    main()
