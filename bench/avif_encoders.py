# SPDX-License-Identifier: MIT
"""Compares encoders of AVIF: CPU time and bytes at equal quality.

    tests/python.sh bench/avif_encoders.py [PHOTOS]     PHOTOS: ../shared/corpus/photos

Photographs are scaled to 1920x1080, 4:2:0, full range, and written by avifenc with one thread and several
quantizers. The quality is the structural similarity of luma (SSIM over blocks of 8x8). Bytes at equal quality
are interpolated where all encoders reach it. docs/adr/0025 has the table."""
import math
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

import numpy
from PIL import Image, ImageOps

ROOT = pathlib.Path(__file__).resolve().parents[1]
SIZE = (1920, 1080)
NAMES = ('dog_4032', 'flower_2268x1512_444', 'moon_4000', 'park_3296', 'retina_1411', 'rose_1280', 'roses_2560', 'roses_4000',
         'roses_4608', 'scooter_1280x720_rgb', 'sunset_1920x1080_rgb', 'sunset_3648')
# libavif gives SVT-AV1 no preset above 8, and no speed above 9 to libaom.
ENCODERS = [('aom', speed) for speed in (9, 8, 7, 6, 5)] + [('svt', preset) for preset in (8, 7)]
QUANTIZERS = (18, 30, 42)


def write_y4m(path, picture):
    luma, *chroma = (numpy.asarray(plane) for plane in picture.convert('YCbCr').split())
    with open(path, 'wb') as file:
        file.write(b'YUV4MPEG2 W%d H%d F1:1 Ip A1:1 C420jpeg XCOLORRANGE=FULL\nFRAME\n' % SIZE)
        file.write(luma.tobytes())
        for plane in chroma:
            halved = plane.reshape(SIZE[1] // 2, 2, SIZE[0] // 2, 2).mean((1, 3))
            file.write((halved + 0.5).astype(numpy.uint8).tobytes())
    return luma


def read_luma(path):
    header, data = path.read_bytes().split(b'FRAME\n', 1)
    assert b'W%d H%d' % SIZE in header
    return numpy.frombuffer(data, numpy.uint8, SIZE[0] * SIZE[1]).reshape(SIZE[1], SIZE[0])


def blocks(plane):
    return plane.astype(float).reshape(SIZE[1] // 8, 8, SIZE[0] // 8, 8)


def ssim(a, b):
    a, b, axes = blocks(a), blocks(b), (1, 3)
    ma, mb = a.mean(axes), b.mean(axes)
    va, vb, both = a.var(axes), b.var(axes), (a * b).mean(axes) - ma * mb
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    return ((2 * ma * mb + c1) * (2 * both + c2) / ((ma ** 2 + mb ** 2 + c1) * (va + vb + c2))).mean()


def cpu(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(folder, photo):
    """For each encoder its points: quality in decibels, logarithm of bytes, seconds."""
    source, coded, decoded = (folder / name for name in ('in.y4m', 'out.avif', 'back.y4m'))
    luma = write_y4m(source, ImageOps.fit(Image.open(photo).convert('RGB'), SIZE, Image.Resampling.LANCZOS))
    points = {}
    for codec, speed in ENCODERS:
        for quantizer in QUANTIZERS:
            seconds = cpu(['avifenc', '-j', '1', '-c', codec, '-s', str(speed), '--min', str(quantizer), '--max', str(quantizer),
                           str(source), str(coded)])
            subprocess.run(['avifdec', '-j', '1', str(coded), str(decoded)], check=True, stdout=subprocess.DEVNULL)
            quality = -10 * math.log10(1 - ssim(luma, read_luma(decoded)))
            points.setdefault((codec, speed), []).append((quality, math.log(coded.stat().st_size), seconds))
    return {encoder: sorted(found) for encoder, found in points.items()}


def mean_log_bytes(points, low, high):
    at = numpy.linspace(low, high, 20)
    return numpy.interp(at, [point[0] for point in points], [point[1] for point in points]).mean()


def main():
    photos = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT.parent / 'shared/corpus/photos'
    sizes = {encoder: [] for encoder in ENCODERS}
    times = {encoder: [] for encoder in ENCODERS}
    for name in NAMES:
        with tempfile.TemporaryDirectory() as folder:
            points = measure(pathlib.Path(folder), next(photos.glob(name + '*')))
        low = max(found[0][0] for found in points.values())
        high = min(found[-1][0] for found in points.values())
        for encoder, found in points.items():
            sizes[encoder].append(mean_log_bytes(found, low, high))
            times[encoder] += [point[2] for point in found]
        print(name, *(f'{codec}{speed}:{math.exp(sizes[codec, speed][-1]) / 1000:.0f}kB' for codec, speed in ENCODERS), flush=True)
    print('| encoder | speed | CPU ms, median | slowest | bytes at equal SSIM |\n|---|---|---|---|---|')
    for encoder in ENCODERS:
        ratio = math.exp(statistics.mean(mine - best for mine, best in zip(sizes[encoder], sizes['aom', 6])))
        print(f'| {encoder[0]} | {encoder[1]} | {1000 * statistics.median(times[encoder]):.0f} | {1000 * max(times[encoder]):.0f} | {ratio:.3f} |')


if __name__ == '__main__':
    main()
