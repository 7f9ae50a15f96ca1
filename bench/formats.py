#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Measures blurd and sharp with WebP and AVIF, at equal quality, and writes bench/results/formats.md.

    tests/python.sh bench/formats.py [--seconds N] [--sigma S]

Four photographs of 1920x1080, with chroma of half the size in each lossy file. Each program's answer is compared with its own PNG of the same blur by the PSNR of luma. sharp
has its default quality. blurd's quality is the one whose mean PSNR is the same, found by bisection; bytes are interpolated
between the two qualities beside it. CPU time is that of all processes."""
import argparse
import io
import math
import pathlib
import statistics
import subprocess
import tempfile

import numpy
from PIL import Image

import pictures
import report
import subjects

ABOUT = '''# WebP and AVIF beside sharp

Four photographs of 1920x1080, sigma 1.5, over HTTP on the same cores. sharp has its default quality, and blurd the quality that gives the same PSNR of luma
against the same program's PNG; bytes are those at exactly that PSNR. Chroma has half the size on both sides. `bench/formats.py` measures this.'''
PAIRS = [('jpeg', 'webp'), ('webp', 'webp'), ('webp', 'jpeg'), ('jpeg', 'avif'), ('avif', 'avif'), ('avif', 'jpeg')]
# blurd's default effort, and others worth knowing.
EFFORTS = {'webp': (1, 3, 5), 'avif': (1, 3), 'jpeg': (1,)}
PEER_QUALITY = {'webp': 80, 'avif': 50, 'jpeg': 85}  # sharp's defaults; sharp.js has its own 85


def luma(content, form):
    """The luma plane of a picture. Pillow of Debian 12 does not read AVIF; avifdec does."""
    if form == 'avif':
        with tempfile.TemporaryDirectory() as folder:
            source, target = pathlib.Path(folder, 'a.avif'), pathlib.Path(folder, 'a.png')
            source.write_bytes(content)
            subprocess.run(['avifdec', '--png-compress', '0', source, target], check=True, capture_output=True)
            content = target.read_bytes()
    return numpy.asarray(Image.open(io.BytesIO(content)).convert('L'), dtype=numpy.float64)


def psnr(one, two):
    return 10 * math.log10(255 ** 2 / max(numpy.mean((one - two) ** 2), 1e-9))


def source(form):
    """Four files of that format, made by the format's own tools."""
    found = []
    for jpeg in pictures.several(pictures.FULL, 'jpeg'):
        path = pictures.FOLDER / f'{jpeg.stem}.{form}'
        if form == 'jpeg':
            path = jpeg
        elif not path.exists():
            png = pictures.FOLDER / f'{jpeg.stem}-source.png'
            pictures.FOLDER.mkdir(parents=True, exist_ok=True)
            Image.open(jpeg).save(png)
            command = ['cwebp', '-quiet', '-q', '85', png, '-o', path] if form == 'webp' else \
                ['avifenc', '-y', '420', '--min', '15', '--max', '25', '-s', '8', png, path]
            subprocess.run(command, check=True, capture_output=True)
        found.append(path)
    return found


class Quality:
    """Mean PSNR and bytes of a server's answers by quality."""

    def __init__(self, server, files, form, sigma, options=''):
        self.server, self.files, self.form, self.known = server, files, form, {}
        self.query = f'sigma={sigma}&format={form}{options}'
        self.wanted = [luma(server.blur(path, f'sigma={sigma}&format=png'), 'png') for path in files]

    def at(self, quality):
        if quality not in self.known:
            answers = [self.server.blur(path, f'{self.query}&quality={quality}') for path in self.files]
            self.known[quality] = (statistics.mean(psnr(luma(answer, self.form), wanted) for answer, wanted in zip(answers, self.wanted)),
                                   statistics.mean(map(len, answers)))
        return self.known[quality]

    def match(self, wanted):
        """(quality, bytes): the lowest quality that reaches the PSNR, and the bytes at exactly that PSNR."""
        low, high = 1, 100
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.at(middle)[0] >= wanted else (middle, high)
        (below, few), (above, many) = self.at(low), self.at(high)
        share = min(1, max(0, (wanted - below) / (above - below))) if above > below else 1
        return high, few + share * (many - few)


def rows_of(blurd, sharp, pair, sigma, seconds):
    """A row for each effort of blurd."""
    take, give = pair
    files = source(take)
    theirs = Quality(sharp, files, give, sigma)
    level, their_bytes = theirs.at(PEER_QUALITY[give])
    their_cpu = sharp.measure(files, sigma, seconds, options=f'&format={give}&quality={PEER_QUALITY[give]}')['cpu_ms']
    for effort in EFFORTS[give]:
        quality, our_bytes = Quality(blurd, files, give, sigma, f'&effort={effort}').match(level)
        our_cpu = blurd.measure(files, sigma, seconds, options=f'&format={give}&effort={effort}&quality={quality}')['cpu_ms']
        name = f'{take} to {give}' + (f', effort {effort}' if len(EFFORTS[give]) > 1 else '')
        print(name, quality, level, our_cpu, their_cpu, our_bytes / their_bytes, flush=True)
        yield [name, f'{level:.1f} dB', quality, report.number(our_cpu), report.number(their_cpu), f'{their_cpu / our_cpu:.2f}',
               f'{our_bytes / their_bytes:.3f}']


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seconds', type=float, default=4)
    parser.add_argument('--sigma', type=float, default=1.5)
    options = parser.parse_args()
    # Effort 4 of AVIF takes seconds, and gives way to a lower one where the time limit may not do.
    blurd, sharp = subjects.Blurd(options=['--work-timeout', '2m']), subjects.Sharp()
    try:
        rows = [row for pair in PAIRS for row in rows_of(blurd, sharp, pair, options.sigma, options.seconds)]
    finally:
        blurd.stop()
        sharp.stop()
    made = report.table(['', 'PSNR', 'blurd: quality', 'CPU ms', 'sharp: CPU ms', 'ratio', 'bytes, to sharp\'s'], rows)
    report.write_table('formats', ABOUT, made)


if __name__ == '__main__':
    main()
