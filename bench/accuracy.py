#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""How far the answers of a daemon are from the real Gaussian, as a table in Markdown.

    bench/accuracy.py [PICTURE …]        default: the photographs of ../shared/corpus

Each picture goes through POST /blur as PNG, RGB, edges clamped, and is compared with a
float64 Gaussian with tails to 6 sigma. Also: the classic 7x7 kernel of textbooks."""

import io
import pathlib
import sys

import numpy
from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / 'tests' / 'http'))

import daemon  # noqa: E402
import gaussian  # noqa: E402

SIGMAS = [0.5, 1.5, 3, 5, 8, 20, 50, 100, 300]


def pictures(names):
    folder = ROOT.parent / 'shared' / 'corpus' / 'photos'
    names = names or [folder / name for name in (
        'sunset_1920x1080_rgb.png', 'flower_800x600_rgb.png', 'chelsea_451x300_rgb_icc.png')]
    return [numpy.asarray(Image.open(name).convert('RGB')) for name in names]


def png(pixels):
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, 'PNG', compress_level=1)
    return out.getvalue()


def error(served, body, query, expected):
    answer = served.post(f'/blur?{query}', body)
    answer.raise_for_status()
    return numpy.abs(numpy.asarray(Image.open(io.BytesIO(answer.content)), numpy.float64) - expected)


def main():
    originals = pictures(sys.argv[1:])
    bodies = [png(pixels) for pixels in originals]
    with daemon.Daemon() as served:
        print('| sigma | largest error | mean error | pixels off by more than 0.5 |')
        print('|---|---|---|---|')
        for sigma in SIGMAS:
            off = [error(served, body, f'sigma={sigma}', gaussian.blur(pixels, sigma)).ravel()
                   for pixels, body in zip(originals, bodies)]
            every = numpy.concatenate(off)
            print(f'| {sigma} | {every.max():.3f} | {every.mean():.4f} | {(every > 0.5).mean():.2%} |', flush=True)
        off = [error(served, body, 'sigma=1.5&kernel_size=7', gaussian.tutorial(pixels, 7, 1.5)).max()
               for pixels, body in zip(originals, bodies)]
        print(f'\n`kernel_size=7&sigma=1.5` against the textbook 7x7 kernel: at most {max(off):.0f}')


if __name__ == '__main__':
    main()
