#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Measures the most that a request could gain if its planes never left the second-level cache: photographs of 1920x1024 as whole
files, and cut into strips of 64 rows, whose planes have 184 kB. CPU time of decoding, of the blur and of encoding, one thread.

    make -s build/release/bench/pipeline && tests/python.sh bench/strips.py [--seconds N] [--rounds N] [--level LEVEL]

Whole files and strips take turns, --seconds for each in every round, and the least median of the rounds counts. A strip pays for its
own tables, and its blur for rows beyond its edges, which strips of one picture would not: their times are upper limits."""
import argparse
import pathlib
import tempfile

from PIL import Image

import cost
import pictures
import report

WIDTH, ROWS, STRIPS = pictures.FULL[0], 64, 16
SIGMAS = ('1.5', '5', '20')


def save(picture, path):
    picture.save(path, 'jpeg', quality=90, subsampling='4:2:0')
    return path


def cut(folder):
    """Files of whole pictures, and of their strips."""
    whole, strips = [], []
    for number, source in enumerate(pictures.several(pictures.FULL, 'png')):
        picture = Image.open(source).convert('RGB').crop((0, 0, WIDTH, ROWS * STRIPS))
        whole.append(save(picture, folder / f'{number}.jpeg'))
        strips += [save(picture.crop((0, i * ROWS, WIDTH, (i + 1) * ROWS)), folder / f'{number}-{i}.jpeg') for i in range(STRIPS)]
    return whole, strips


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seconds', type=float, default=2)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--level', default='auto')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        kinds = cut(pathlib.Path(folder))
        count, rows = len(kinds[0]), []
        for sigma in SIGMAS:
            best = [None, None]
            for _ in range(options.rounds):
                for kind, files in enumerate(kinds):
                    now = cost.measure(files, sigma, options.seconds / len(files), options.level)
                    best[kind] = [min(pair) for pair in zip(now, best[kind] or now)]
            rows.append([sigma] + [f'{a / count:.2f}, {b / count:.2f}' for a, b in zip(*best)])
    print(report.table(['sigma', *(f'{stage}: whole, strips' for stage in ('all', *cost.STAGES[1:]))], rows))


if __name__ == '__main__':
    main()
